// Files that are dropped, pasted or picked go with the form; its text says where they stand.
for (const input of document.querySelectorAll("input[name=files]")) {
  const form = input.form;
  const text = form.querySelector("textarea:not([readonly])");
  const kept = new DataTransfer();
  const add = (files) => {
    let links = "";
    for (const file of files) {
      const plain = file.name.replace(/[<>\n\r\\]/g, "-");
      let name = plain;
      for (let n = 2; [...kept.files].some((one) => one.name === name); n++) name = `${n}-${plain}`;
      kept.items.add(new File([file], name, { type: file.type }));
      const sign = file.type.startsWith("image/") ? "!" : "";
      links += `${sign}[${plain.replace(/[[\]]/g, "")}](<${name}>)\n`;
    }
    input.files = kept.files;
    const before = text.value.slice(0, text.selectionStart); // a file stands on a line of its own
    const gap = !before || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    text.setRangeText(gap + links, text.selectionStart, text.selectionEnd, "end");
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
