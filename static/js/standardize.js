/* Standardization: findings stand at their fields, Complete is closed while one fails, a saved draft's number is kept. */
(() => {
  "use strict";
  const $ = query => document.querySelector(query);
  const $$ = query => [...document.querySelectorAll(query)];
  const left = new Set();

  const note = text => {
    const line = document.createElement("p");
    line.className = "field__error";
    const words = document.createElement("span");
    words.textContent = text;
    line.append(...(window.LBP ? [window.LBP.icon("bang")] : []), words);
    return line;
  };
  /* No error is shown at a field before it was left once or held text when the page came. */
  const atFields = () => {
    for (const place of $$(".found")) {
      const name = place.id.slice(3);
      const input = $(`[name="${name}"]`);
      const found = left.has(name) ? $$(`#previewed [data-field="${name}"][data-severity="error"] [data-text]`) : [];
      place.replaceChildren(...found.map(text => note(text.textContent)));
      if (!input) continue;
      if (found.length) input.setAttribute("aria-invalid", "true"); else input.removeAttribute("aria-invalid");
      input.setAttribute("aria-describedby", place.id);
    }
  };
  const weigh = () => {
    const failing = Number($("#why")?.dataset.errors || 0);
    const complete = $("[data-complete]");
    if (complete) {
      if (failing) complete.setAttribute("aria-disabled", "true"); else complete.removeAttribute("aria-disabled");
    }
    const sum = $("#sum");
    if (sum) sum.textContent = $("#why")?.textContent.trim() || "";
  };
  const keepVersion = () => {
    const saved = $("#saved");
    const version = $("#version");
    if (saved && version && Number(saved.dataset.version) > Number(version.value)) version.value = saved.dataset.version;
  };
  const settle = () => { atFields(); weigh(); keepVersion(); };

  for (const input of $$("textarea[name], input[name]")) if (input.value && input.type !== "hidden") left.add(input.name);
  addEventListener("focusout", event => {
    if (!event.target.name) return;
    left.add(event.target.name);
    atFields();
  });
  addEventListener("htmx:afterSettle", settle);
  addEventListener("desk:said", event => window.LBP?.say(event.detail.text));
  settle();
})();
