/* Judging row by row: j k move, c i u (m u for predictions) mark and go on, the reader follows to the row's evidence.
   The pages work as plain forms without this. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const form = $("#review");
  const rows = () => $$("[data-row]");
  const MARKS = { mark: { c: "correct", i: "incorrect", u: "unsure" }, recall: { m: "missing", u: "unreasonable" }, difference: {} };
  const radios = row => $$("input[type=radio]", row);
  const judged = row => radios(row).some(radio => radio.checked);
  let current = null;

  const show = (row, follow = true) => {
    if (!row) return;
    current?.removeAttribute("aria-current");
    current = row;
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
    if (follow) $('[data-mark="evidence"]', row)?.click();
  };
  const step = by => {
    const all = rows();
    const at = all.indexOf(current);
    show(all[Math.min(all.length - 1, Math.max(0, at + by))]);
  };
  const goOn = () => {
    const all = rows();
    const at = all.indexOf(current);
    const next = [...all.slice(at + 1), ...all.slice(0, at)].find(row => !judged(row));
    if (next) show(next);
  };

  addEventListener("keydown", event => {
    if (event.defaultPrevented || document.documentElement.dataset.shortcuts === "off" || event.repeat || LBP.typing(event)) return;
    if (event.key === "j" || event.key === "k") { event.preventDefault(); step(event.key === "j" ? 1 : -1); return; }
    const value = current && MARKS[current.dataset.row]?.[event.key];
    const radio = value && radios(current).find(choice => choice.value === value);
    if (!radio || radio.matches(":disabled")) return;
    event.preventDefault();
    if (!radio.checked) radio.click();
    goOn();
  });
  addEventListener("focusin", event => {
    const row = event.target.closest?.("[data-row]");
    if (row && row !== current) show(row, false);
  });
  addEventListener("click", event => {
    const row = event.target.closest?.("[data-row]");
    if (row && row !== current) show(row, false);
  });

  if (!form) { show(rows()[0], false); return; }

  /* ---- what is judged, and what the button will do -------------------------------- */
  const progress = $("[data-progress]", form);
  const submit = $("[data-submit]", form);
  const opens = rows().filter(row => row.dataset.row !== "difference");
  const tell = () => {
    if (progress) progress.textContent = LBP.fill(progress.dataset.words, { judged: opens.filter(judged).length, all: opens.length });
    if (!submit) return;
    const doubt = $$('input[value="incorrect"]:checked, input[value="unsure"]:checked, input[value="missing"]:checked, input[name="issue"]:checked', form).length
      || $$('input[name="addition"]', form).some(input => input.value.trim());
    submit.textContent = doubt ? submit.dataset.issue : submit.dataset.clean;
  };
  form.addEventListener("change", tell);
  form.addEventListener("input", event => {
    const kind = event.target.name?.startsWith("issue-") ? event.target.name.slice("issue-".length) : "";
    if (kind && event.target.value.trim()) { const box = $(`input[name="issue"][value="${kind}"]`, form); if (box && !box.checked) box.checked = true; }
    tell();
  });

  /* ---- one more missing element ------------------------------------------------------ */
  const add = $("[data-add]", form);
  add?.addEventListener("click", event => {
    event.preventDefault();
    const row = add.closest(".row");
    const input = $("input", row);
    if (!input.value.trim()) { input.focus(); return; }
    const made = LBP.element("div", { className: "row" });
    const copy = input.cloneNode();
    copy.value = input.value;
    copy.removeAttribute("placeholder");
    made.append(copy);
    row.before(made);
    input.value = "";
    input.focus();
    form.dispatchEvent(new Event("change"));
  });

  if (opens.length && !form.querySelector("fieldset:disabled")) show(opens.find(row => !judged(row)) || opens[0], false);
  if (submit) tell();
})();
