// Sends with each file when it was changed, which dates a text that names no day.
import { translate } from "/static/texts.js";
import { addHidden } from "/static/drafts.js";
const input = document.getElementById("import-files");
input.addEventListener("change", () => {
  const { form, files } = input;
  for (const old of form.querySelectorAll("[name=modified]")) old.remove();
  let size = 0;
  for (const file of files) {
    size += file.size;
    addHidden(form, "modified", file.lastModified);
  }
  const isMuch = size > Number(form.dataset.most) - 1e6; // what stands around the files
  input.setCustomValidity(isMuch ? translate("That is too much at once. Choose fewer files.") : "");
  input.reportValidity();
});
