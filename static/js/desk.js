/* The desk's additions: verdicts open when all checks are ticked, differences on and off, what was done is spoken. */
(() => {
  "use strict";
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  let showDiff = true;

  /* A pass is closed until every check is ticked; the line above it says so. Without this script the server does. */
  const weigh = form => {
    const boxes = $$('input[type="checkbox"]', form);
    const missing = boxes.filter(box => !box.checked).length;
    const why = form.querySelector("#why");
    if (why && why.dataset.said === undefined) why.dataset.said = why.textContent;
    for (const pass of $$("[data-pass]", form)) {
      if (missing) pass.setAttribute("aria-disabled", "true"); else pass.removeAttribute("aria-disabled");
    }
    if (why) why.textContent = missing ? why.dataset.missing : why.dataset.said;
  };
  const differ = () => {
    for (const pane of $$("#pane[data-diff]")) pane.dataset.diff = showDiff ? "on" : "off";
    for (const button of $$('[data-desk="diff"]')) button.setAttribute("aria-pressed", String(showDiff));
  };
  const begin = () => {
    for (const form of $$("form[data-checks]")) weigh(form);
    differ();
    document.querySelector('#candidates [aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  };

  addEventListener("change", event => {
    const form = event.target.form;
    if (form?.hasAttribute("data-checks")) weigh(form);
  });
  addEventListener("click", event => {
    if (!event.target.closest?.('[data-desk="diff"]')) return;
    showDiff = !showDiff;
    differ();
  });
  /* Results never close a dialog in which somebody is giving a reason. */
  addEventListener("htmx:oobBeforeSwap", event => {
    if (event.detail.target?.querySelector?.("dialog[open]")) event.detail.shouldSwap = false;
  });
  addEventListener("desk:said", event => window.LBP?.say(event.detail.text));
  /* A refusal is shown under the bar, which a modal dialog would cover. */
  addEventListener("htmx:responseError", event => event.target.closest?.("dialog[open]")?.close());
  addEventListener("htmx:afterSettle", begin);
  begin();
})();
