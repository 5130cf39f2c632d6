/* Judging row by row: j k move, one key marks and goes on, f finds every place of the element, w writes a note, and the
   reader follows to the row's evidence. The pages work as plain forms without this. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const form = $("#review");
  const decide = $("#decide");
  const rows = () => $$("[data-row]");
  const MARKS = {
    mark: { c: "correct", i: "incorrect", u: "unsure" },
    recall: { m: "missing", u: "unreasonable" },
    decide: { c: "correct", i: "incorrect" },
    lacking: { m: "missing", u: "unreasonable" },
    difference: {},
  };
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
    const next = [...all.slice(at + 1), ...all.slice(0, at)].find(row => radios(row).length && !judged(row));
    if (next) show(next);
  };

  /* ---- keys ---------------------------------------------------------------------------------- */
  const note = () => { const field = current && $(".marknote", current); if (!field || field.matches(":disabled")) return false; field.classList.add("marknote--kept"); field.focus(); return true; };
  const find = () => { const words = current?.dataset.element; if (!words || $(".summary__text", current) || !window.LBPReader) return false; LBPReader.search(words); return true; };
  const tick = key => {
    const box = form && $(`[data-issue-key="${key}"]:not(:disabled)`, form);
    if (!box) return false;
    box.click();
    if (box.checked) $(`[name="issue-${box.value}"]`, form)?.focus();
    return true;
  };
  const choose = key => {
    const value = current && MARKS[current.dataset.row]?.[key];
    const radio = value && radios(current).find(choice => choice.value === value);
    if (!radio || radio.matches(":disabled")) return false;
    if (!radio.checked) radio.click();
    goOn();
    return true;
  };
  const pressed = key => {
    if (key === "j" || key === "k") { step(key === "j" ? 1 : -1); return true; }
    if (key === "f") return find();
    if (key === "w" && form) return note();
    if (/^[123]$/.test(key) && form) return tick(key);
    return choose(key);
  };
  addEventListener("keydown", event => {
    if (event.defaultPrevented || document.documentElement.dataset.shortcuts === "off" || event.repeat || LBP.typing(event)) return;
    if (pressed(event.key)) event.preventDefault();
  });
  for (const kind of ["focusin", "click"]) {
    addEventListener(kind, event => {
      const row = event.target.closest?.("[data-row]");
      if (row && row !== current) show(row, false);
    });
  }

  /* ---- saving: a draft saved elsewhere is shown beside this one, by the server ------------------------ */
  const saveItself = draft => {
    const asIs = () => { const button = LBP.element("button", { name: "do", value: "save", hidden: true }); draft.append(button); draft.requestSubmit(button); };
    LBP.autosave(draft, {
      onConflict: problem => {
        LBP.refuse(problem.detail);
        const show = LBP.element("button", { type: "button", className: "btn btn--s" }, draft.dataset.conflict);
        show.addEventListener("click", asIs);
        $("#refusal .refusal > div")?.append(show);
      },
    });
  };

  /* ---- the expert's decision: the proposal follows the elements until it is typed in ---------------- */
  if (decide) {
    const told = $("[data-decided]", decide);
    const proposal = $("#proposal");
    const opens = rows().filter(row => radios(row).length);
    const inOrder = [...opens].sort((a, b) => a.dataset.number - b.dataset.number);
    const belongs = row => {
      const mark = radios(row).find(radio => radio.checked)?.value || "";
      return row.dataset.row === "lacking" ? mark === "missing" : mark !== "incorrect";
    };
    const propose = () => inOrder.filter(belongs).map(row => row.dataset.element.replace(/\s+/g, " ").trim()).join("\n");
    let follows = proposal.value === propose();
    const tell = () => {
      if (told && opens.length) told.textContent = LBP.fill(told.dataset.words, { decided: opens.filter(judged).length, all: opens.length });
      if (follows) proposal.value = propose();
    };
    proposal.addEventListener("input", () => { follows = false; });
    addEventListener("change", event => {
      if (event.target.form !== decide) return;
      tell();
      /* The elements' choices stand outside the form that they belong to, where it does not hear of them. */
      if (!decide.contains(event.target)) { decide.autosaving.touch(); decide.autosaving.flush(); }
    });
    tell();
    saveItself(decide);
    show(rows().find(row => radios(row).length && !judged(row)) || rows()[0], false);
    return;
  }
  if (!form) { show(rows()[0], false); return; }

  if (form.hasAttribute("data-draft")) saveItself(form);

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
  const more = () => {
    const row = add.closest(".row");
    const input = $("input", row);
    if (!input.value.trim()) { input.focus(); return; }
    const made = LBP.element("div", { className: "row" });
    const copy = input.cloneNode();
    copy.value = input.value;
    for (const name of ["placeholder", "data-key", "aria-keyshortcuts"]) copy.removeAttribute(name);
    made.append(copy);
    row.before(made);
    input.value = "";
    input.focus();
    form.dispatchEvent(new Event("change"));
  };
  add?.addEventListener("click", event => { event.preventDefault(); more(); });
  add?.closest(".row").addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.target === add) return;
    event.preventDefault();
    event.stopPropagation();
    more();
  });

  if (opens.length && !form.querySelector("fieldset:disabled")) show(opens.find(row => !judged(row)) || opens[0], false);
  if (submit) tell();
})();
