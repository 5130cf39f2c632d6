/* Bringing documents in: too many files are said before they travel. */
(() => {
  "use strict";
  const input = document.querySelector('[data-import] input[type="file"][data-limit]');
  if (!input) return;
  const form = input.form;
  const small = files => files.length <= 10 && [...files].reduce((sum, file) => sum + file.size, 0) < 20e6;
  input.addEventListener("change", () => {
    const { files } = input;
    document.getElementById("preview").replaceChildren();
    input.setCustomValidity(files.length > +input.dataset.limit ? form.dataset.tooMany.replace("%(n)s", files.length) : "");
    if (!input.reportValidity() || !files.length || !small(files)) return;
    form.querySelector('[value="preview"]').click();  /* the decoded beginning is shown before anything is taken */
  });
})();
