// Files that are dropped, pasted or picked go with the form; its text says where they stand.
for (const input of document.querySelectorAll("input[name=files]")) {
  const form = input.form;
  const text = form.querySelector("textarea:not([readonly])");
  const kept = new DataTransfer();
  const add = (files) => {
    for (const file of files) {
      const plain = file.name.replace(/[<>\n\r\\]/g, "-");
      let name = plain;
      for (let n = 2; [...kept.files].some((one) => one.name === name); n++) name = `${n}-${plain}`;
      kept.items.add(new File([file], name, { type: file.type }));
      const sign = file.type.startsWith("image/") ? "!" : "";
      const link = `${sign}[${plain.replace(/[[\]]/g, "")}](<${name}>)`;
      text.setRangeText(link, text.selectionStart, text.selectionEnd, "end");
    }
    input.files = kept.files;
    text.dispatchEvent(new Event("input", { bubbles: true }));
  };
  input.classList.add("hidden"); // the label is the button
  input.addEventListener("change", () => add([...input.files]));
  const take = (event) => {
    const { files } = event.dataTransfer ?? event.clipboardData;
    if (!files.length) return;
    event.preventDefault();
    event.stopPropagation();
    add(files);
  };
  form.addEventListener("drop", take, true);
  form.addEventListener("paste", take, true);
  form.addEventListener("dragover", (event) => event.preventDefault());
}
