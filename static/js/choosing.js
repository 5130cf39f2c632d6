/* Rows with a tick: how many are chosen, all of the page, a run of them with Shift. Without this script the buttons of
   the form stand open and the server says what is missing. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

  const boxes = form => $$("tbody input[type=checkbox]", form);
  const recount = form => {
    const all = boxes(form);
    const ticked = all.filter(box => box.checked).length;
    const said = $("[data-chosen]", form);
    if (said && (ticked || said.dataset.began)) { said.dataset.began = "yes"; said.textContent = fill(form.dataset.wordChosen, { n: ticked }); }
    for (const button of $$("[data-needs]", form)) button.disabled = ticked < +button.dataset.needs;
    const whole = $("[data-choose-all]", form);
    if (!whole) return;
    whole.hidden = !all.length;
    whole.checked = ticked > 0 && ticked === all.length;
    whole.indeterminate = ticked > 0 && ticked < all.length;
  };
  let last = null;
  addEventListener("click", event => {
    const box = event.target;
    const form = box.closest?.("[data-choose]");
    if (!form || !box.matches("input[type=checkbox]")) return;
    const all = boxes(form);
    if (box.matches("[data-choose-all]")) for (const each of all) each.checked = box.checked;
    else if (event.shiftKey && last && all.includes(last)) {
      const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
      for (const each of all.slice(from, to + 1)) each.checked = box.checked;
    }
    if (all.includes(box)) last = box;
    recount(form);
  });
  const armRows = within => $$("[data-choose]", within).forEach(recount);
  armRows(document);
  addEventListener("htmx:afterSettle", () => armRows(document));
})();
