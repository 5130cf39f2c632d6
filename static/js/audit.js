/* The expert's dialog: one more remark on the same part, and open again when it was refused. */
(() => {
  "use strict";
  const dialog = document.querySelector("#return-dialog");
  if (!dialog) return;
  dialog.addEventListener("click", event => {
    const button = event.target.closest('[data-audit="another"]');
    if (!button) return;
    const row = button.closest(".remark-row");
    const made = row.cloneNode(true);
    const text = made.querySelector("textarea");
    text.value = text.defaultValue = "";
    text.id = `remark-${dialog.querySelectorAll(".remark-row").length + 1}`;
    text.removeAttribute("data-key");
    text.removeAttribute("aria-keyshortcuts");
    made.querySelector("label").htmlFor = text.id;
    made.querySelector("kbd").textContent = "";
    row.after(made);
    text.focus();
  });
  if (dialog.hasAttribute("data-opens")) dialog.showModal();
})();
