/* Bringing documents in: files and folders are dropped, pasted or chosen; what is too much is said before it travels;
   the decoded beginning is shown before anything is taken. Without this script the form works as it stands. */
(() => {
  "use strict";
  const form = document.querySelector("[data-import]");
  if (!form) return;
  const input = form.querySelector('input[type="file"]');
  const zone = form.querySelector("[data-drop]");
  const chosen = form.querySelector(".drop__chosen");
  const preview = document.getElementById("preview");
  const FEW = { files: 20, bytes: 20e6 };
  const LITTER = [".DS_Store", "Thumbs.db", "desktop.ini"];
  const byName = (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true });
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const sizeOf = files => [...files].reduce((sum, file) => sum + file.size, 0);
  const inMB = bytes => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

  const look = () => {
    const { files } = input;
    const bytes = sizeOf(files);
    const values = { n: files.length, size: inMB(bytes) };
    preview.replaceChildren();
    chosen.textContent = files.length ? fill(form.dataset.chosen, values) : "";
    let fault = "";
    if (files.length > +form.dataset.maxFiles) fault = fill(form.dataset.tooMany, values);
    else if (bytes > +form.dataset.maxBytes) fault = fill(form.dataset.tooMuch, values);
    input.setCustomValidity(fault);
    if (!input.reportValidity() || !files.length) return;
    form.querySelector('[value="preview"]').click();
  };
  input.addEventListener("change", look);

  /* The preview shows a few beginnings: it need not send everything. */
  form.addEventListener("htmx:configRequest", event => {
    const sent = event.detail.formData;
    if (!sent || event.target.value !== "preview") return;
    let bytes = 0;
    const all = sent.getAll("uploads").filter(file => file.name);
    const few = all.slice(0, FEW.files).filter(file => bytes + file.size <= FEW.bytes && (bytes += file.size, true));
    sent.delete("uploads");
    sent.set("chosen", all.length);
    few.forEach(file => sent.append("uploads", file, file.name));
    sent.delete("text");
  });

  const take = files => {
    if (!files.length) return;
    const all = new DataTransfer();
    [...input.files, ...files].forEach(file => all.items.add(file));
    input.files = all.files;
    look();
  };
  const entries = reader => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  const filesOf = async entry => {
    if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
    const reader = entry.createReader();
    const inside = [];
    for (let some = await entries(reader); some.length; some = await entries(reader)) inside.push(...some);  /* a hundred at a time */
    const found = [];
    for (const inner of inside.filter(({ name }) => !LITTER.includes(name)).sort(byName)) found.push(...await filesOf(inner));
    return found;
  };

  const holdsFiles = event => [...(event.dataTransfer?.types || [])].includes("Files");
  let depth = 0;
  const mark = () => zone.toggleAttribute("data-over", depth > 0);
  addEventListener("dragenter", event => { if (holdsFiles(event)) { depth += 1; mark(); } });
  addEventListener("dragleave", event => { if (holdsFiles(event)) { depth = Math.max(0, depth - 1); mark(); } });
  addEventListener("dragover", event => { if (holdsFiles(event)) event.preventDefault(); });  /* missed: the page stays */
  addEventListener("drop", async event => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth = 0;
    mark();
    const found = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files];
    try {
      take(found.length ? (await Promise.all(found.map(filesOf))).flat() : plain);
    } catch { take(plain); }  /* a folder that may not be read */
  });
  addEventListener("paste", event => {
    const files = [...(event.clipboardData?.files || [])];
    if (!files.length) return;
    event.preventDefault();
    take(files);
  });
})();
