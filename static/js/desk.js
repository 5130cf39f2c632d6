/* The desk's additions to plain forms: what is ticked and typed is kept, verdicts open when every check is ticked, focus
   goes to the next decision, the list can show the open candidates alone, answers that came in are told, the claim's
   time runs. Every effect goes through a form or a link of the page. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const root = document.documentElement;
  const person = root.dataset.person || "";
  const store = (area, name, value) => {
    try {
      if (value === null) area.removeItem(name); else if (value !== undefined) area.setItem(name, value);
      return area.getItem(name);
    } catch { return null; }  /* storage full or forbidden: the page goes on without it */
  };
  const kept = text => { try { return JSON.parse(text) || null; } catch { return null; } };
  const shows = el => el.checkVisibility ? el.checkVisibility({ visibilityProperty: true }) : el.offsetParent !== null;

  /* ---- checks: a pass is closed until all are ticked; the line above says which. Without this the server does. --- */
  const weigh = form => {
    const boxes = $$('input[type="checkbox"]', form);
    const missing = boxes.flatMap((box, at) => (box.checked ? [] : [at + 1]));
    const why = $("#why", form);
    if (why && why.dataset.said === undefined) why.dataset.said = why.textContent;
    for (const pass of $$("[data-pass]", form)) {
      if (missing.length) pass.setAttribute("aria-disabled", "true"); else pass.removeAttribute("aria-disabled");
    }
    if (why) why.textContent = missing.length ? LBP.fill(why.dataset.missing, { places: missing.join(", ") }) : why.dataset.said;
  };

  /* ---- kept in this browser: reasons and notes until they arrived, ticks as long as the wording stays ---------- */
  const DAYS = 7 * 24 * 3600 * 1000;
  const TYPED = "lbp:desk:", TICKED = "lbp:ticks:";
  const typedName = form => `${TYPED}${person}:${form.id}`;
  const tickedName = form => `${TICKED}${person}:${form.id}:${form.dataset.ticks}`;
  const isChoice = field => field.type === "radio" || field.type === "checkbox";
  const keep = form => {
    const fields = $$("[data-kept]", form);
    const values = Object.fromEntries(fields.flatMap(field =>
      (isChoice(field) ? (field.checked ? [[field.name, field.value]] : []) : field.value ? [[field.name, field.value]] : [])));
    store(localStorage, typedName(form), Object.keys(values).length ? JSON.stringify({ at: Date.now(), values }) : null);
  };
  const putBack = form => {
    const { values = {} } = kept(store(localStorage, typedName(form))) || {};
    for (const field of $$("[data-kept]", form)) {
      if (values[field.name] === undefined) continue;
      if (isChoice(field)) field.checked = field.value === values[field.name];
      else if (!field.value) field.value = values[field.name];
    }
  };
  const tickAgain = form => {
    const values = kept(store(sessionStorage, tickedName(form))) || [];
    for (const box of $$('input[type="checkbox"]', form)) if (values.includes(box.value)) box.checked = true;
  };
  const forget = form => {
    store(localStorage, typedName(form), null);
    if (form.dataset.ticks) store(sessionStorage, tickedName(form), null);
  };
  const sweep = () => {
    for (const name of Object.keys(localStorage).filter(name => name.startsWith(TYPED))) {
      if (Date.now() - (kept(store(localStorage, name))?.at || 0) > DAYS) store(localStorage, name, null);
    }
  };
  try { sweep(); } catch { /* no storage */ }

  /* ---- differences to the draft ------------------------------------------------------------------------------- */
  let showDiff = true;
  const differ = () => {
    for (const pane of $$("#pane[data-diff]")) pane.dataset.diff = showDiff ? "on" : "off";
    for (const button of $$('[data-desk="diff"]')) button.setAttribute("aria-pressed", String(showDiff));
  };

  /* ---- the list: the open ones alone; j and k walk what is shown ------------------------------------------------ */
  const ONLY = `lbp:only-open:${person}`;
  const rows = () => $$("#candidates [data-row] > a").filter(shows);
  const narrow = () => {
    const only = store(localStorage, ONLY) === "yes";
    const main = $("#main");
    if (only) main.dataset.only = "open"; else delete main.dataset.only;
    $('[data-desk="only"]')?.setAttribute("aria-pressed", String(only));
  };
  let going = null;  /* pressed again before the answer is there: from where one is going to */
  const walk = by => {
    const other = $(`#pane [data-desk="${by > 0 ? "other-on" : "other-back"}"]`);
    if (other) { other.click(); return; }
    const all = rows();
    const at = all.includes(going) ? all.indexOf(going) : all.findIndex(link => link.getAttribute("aria-current") === "true");
    going = all[at + by] || going;
    all[at + by]?.click();
  };

  /* ---- focus: where the next decision is, after each change of the pane ---------------------------------------- */
  const decision = () => [
    ...$$("#pane [data-focus]"),
    ...$$("#pane .dock :is(button, a[href], input:not([type=hidden]))"),
    ...$$("#pane .scroll"),
  ].find(el => shows(el) && !el.disabled);
  const settle = ({ still = matchMedia("(min-width: 68.01rem)").matches } = {}) => {
    const here = document.activeElement;
    if (here?.matches("input, textarea, select, [contenteditable]") && here.closest(".reader, #pane form[data-edit]")) return;
    const field = $$("#pane [autofocus]").find(shows);
    if (field) { if (field !== here) field.focus({ preventScroll: still }); return; }
    decision()?.focus({ preventScroll: still });
  };

  /* ---- answers that came in meanwhile --------------------------------------------------------------------------- */
  let waiting = new Set();
  const note = () => { waiting = new Set($$("#candidates [data-waits]").map(row => row.id)); };
  const tell = () => {
    for (const row of $$("#candidates [data-came]")) {
      if (!waiting.has(row.id)) continue;
      LBP.say(row.dataset.came);
      if ($("a", row).getAttribute("aria-current") !== "true") LBP.toast(row.dataset.came, { state: "now" });
    }
    note();
  };
  /* What the list knew has changed: panes fetched before may not be true any more. */
  let known = "";
  const changed = () => {
    const now = $("#candidates nav")?.textContent || "";
    const differs = Boolean(known) && now !== known;
    known = now;
    return differs;
  };

  /* ---- the claim's time ------------------------------------------------------------------------------------------- */
  const SHORT = 15;
  let claim = null, until = 0, warned = false;
  const runClaim = () => {
    const place = $("#claim[data-lapses]");
    if (place !== claim) {
      claim = place;
      warned = false;
      if (claim) until = Date.now() + 1000 * +claim.dataset.lapses;
    }
    if (!claim) return;
    const left = Math.floor((until - Date.now()) / 60000);
    const shown = $("[data-time-left]", claim);
    const minutes = Math.max(0, left);
    $("span", shown).textContent = LBP.fill(minutes < 60 ? claim.dataset.minutes : claim.dataset.hours, { hours: Math.floor(minutes / 60), minutes: minutes < 60 ? minutes : minutes % 60 });
    if (left >= SHORT) return;
    shown.dataset.state = "warn";
    if (!warned && until > Date.now()) { warned = true; LBP.say(LBP.fill(claim.dataset.short, { minutes })); }
    if (Date.now() > until + 1500) lapse();
  };
  const lapse = () => {
    const { lapsed, again } = claim.dataset;
    claim.removeAttribute("data-lapses");
    claim = null;
    LBP.toast(lapsed, { state: "warn", stays: true });
    LBP.say(lapsed);
    /* Half-typed words stay in their field: the next saving is refused and says so. */
    if (!$("#pane form[data-dirty]") && !$("dialog[open]")) open(again);
  };

  /* ---- another candidate in the pane ------------------------------------------------------------------------------ */
  /* By script: one after the other, each into the pane of then; what was asked for meanwhile is overtaken by the last. */
  const busy = () => Boolean($("#pane .htmx-request, #pane.htmx-request, #main.htmx-request, #candidates a.htmx-request"));
  let wanted = null, opening = false;
  const open = async url => {
    wanted = url;
    if (opening) return;
    opening = true;
    while (wanted) {
      for (let tries = 0; busy() && tries < 300; tries += 1) await new Promise(done => setTimeout(done, 30));
      const now = wanted;
      wanted = null;
      await window.htmx.ajax("GET", now, { source: $("#main"), target: "#pane", swap: "outerHTML settle:0ms" }).catch(() => {});
    }
    opening = false;
  };
  /* The panes of the two neighbours are fetched while one reads. Each is used once, soon, and only when nothing was sent
     and nothing came in since; a form that is out of date all the same is refused by its version. */
  const FRESH = 30000, QUIET = 300;
  let ahead = new Map(), turn = 0, rest = 0;
  const forgetAhead = () => { ahead = new Map(); turn += 1; clearTimeout(rest); };
  const lookAhead = () => {
    forgetAhead();
    const now = turn;
    rest = setTimeout(async () => {
      if (document.hidden || busy() || $("#pane form[data-edit]") || $("#pane").dataset.panel) return;
      const all = rows();
      const at = all.findIndex(link => link.getAttribute("aria-current") === "true");
      for (const link of [all[at + 1], at > 0 && all[at - 1]].filter(Boolean)) {
        const answer = await fetch(link.href, { headers: { "HX-Request": "true", "HX-Target": "pane" } }).catch(() => null);
        if (!answer?.ok || answer.redirected || now !== turn) return;
        const html = await answer.text();
        if (now === turn && html.includes('id="pane"')) ahead.set(link.href, { html, at: Date.now() });
      }
    }, QUIET);
  };
  addEventListener("click", event => {
    const link = event.target.closest?.("#candidates [data-row] > a");
    const known = link && ahead.get(link.href);
    if (!known || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (Date.now() - known.at > FRESH || busy() || opening || $("#pane form[data-edit]")) return;
    event.preventDefault();
    event.stopPropagation();
    history.replaceState({ htmx: true }, "", location.href);
    history.pushState({ htmx: true }, "", link.href);
    window.htmx.swap("#pane", known.html, { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 }, { eventInfo: { target: $("#pane") } });
  }, true);
  /* Whatever is decided next, the note of the discard before it is no longer what `z` means. */
  const withdrawOffers = () => { for (const one of $$("#toasts [data-key='z']")) one.closest(".toast").remove(); };
  addEventListener("htmx:beforeRequest", event => {
    if (event.detail.requestConfig.verb === "get") return;
    forgetAhead();
    withdrawOffers();
  });

  /* Who opens another candidate gets its pane alone: the list says which one it is. */
  const point = () => {
    const pk = $("#pane")?.dataset.candidate;
    for (const link of $$("#candidates [data-row] > a")) {
      if (link.parentElement.id === `row-${pk}`) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };
  const begin = () => {
    point();
    for (const form of $$("form:has([data-kept])")) putBack(form);
    for (const form of $$("form[data-ticks]")) tickAgain(form);
    for (const form of $$("form[data-checks]")) weigh(form);
    differ();
    narrow();
    runClaim();
    tell();
    if (changed()) forgetAhead();
    $('#candidates [aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  };

  /* ---- events ------------------------------------------------------------------------------------------------------ */
  addEventListener("change", event => {
    const { form } = event.target;
    if (!form) return;
    if (form.dataset.ticks && event.target.type === "checkbox") {
      store(sessionStorage, tickedName(form), JSON.stringify($$('input[type="checkbox"]:checked', form).map(box => box.value)));
    }
    if (form.hasAttribute("data-checks")) weigh(form);
    if (event.target.hasAttribute("data-kept")) keep(form);
  });
  addEventListener("input", event => { if (event.target.hasAttribute?.("data-kept") && event.target.form) keep(event.target.form); });
  addEventListener("click", event => {
    const el = event.target.closest?.("[data-desk]");
    if (el?.dataset.desk === "diff") { showDiff = !showDiff; differ(); }
    if (el?.dataset.desk === "only") { store(localStorage, ONLY, store(localStorage, ONLY) === "yes" ? null : "yes"); narrow(); }
  });
  addEventListener("toggle", event => {
    if (event.target.matches?.(".overrule[open]")) $("input.input", event.target)?.focus();
  }, true);
  /* Ctrl+Enter confirms a dialog from wherever one stands in it. */
  addEventListener("keydown", event => {
    const confirm = event.target.closest?.("dialog[open]")?.querySelector("[data-ctrl-enter]");
    const isText = event.target.matches?.("textarea, input:not([type=checkbox]):not([type=radio])");
    if (!confirm || isText || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    confirm.click();
  });
  /* Before the shell's keys: j and k walk what is shown, z takes back what the note offers, v the next answer, . the next
     remark. */
  addEventListener("keydown", event => {
    if (root.dataset.shortcuts === "off" || event.repeat || event.defaultPrevented || !window.LBP || LBP.typing(event)) return;
    const { key } = event;
    const offered = key === "z" ? $$('#toasts [data-key="z"]').at(-1) : null;
    if (offered) offered.click();
    else if ((key === "j" || key === "k") && $("#candidates")) walk(key === "j" ? 1 : -1);
    else if (key === "v" && $("[data-overrule]")) overrule();
    else if (key === "." && $("#pane [data-deal]")) $("#pane [data-deal]").click();
    else if (key === "Escape" && $("#pane [data-escape]") && !$(":popover-open")) $("#pane [data-escape]").click();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  const overrule = () => {
    const all = $$("#challenge .overrule");
    const at = all.findIndex(one => one.open);
    const next = all[(at + 1) % all.length];
    for (const one of all) one.open = one === next;
  };

  addEventListener("htmx:afterRequest", event => {
    const { requestConfig, successful } = event.detail;
    /* The event comes from what is left in the page; what was sent may have gone with the pane. */
    const form = requestConfig?.elt?.matches?.("form") ? requestConfig.elt : null;
    if (form && successful) forget(form);
  });
  addEventListener("desk:said", event => window.LBP?.say(event.detail.text));
  addEventListener("desk:discarded", event => {
    const { text, url, label, verdict } = event.detail;
    const run = () => window.htmx.ajax("POST", url, { source: $("#main"), target: "#pane", swap: "outerHTML settle:0ms", values: { verdict } }).catch(() => {});
    withdrawOffers();
    LBP.toast(text, { undo: { label, key: "z", run } });
  });
  /* A refusal that no form shows itself stands under the bar, which a modal dialog would cover. */
  addEventListener("htmx:responseError", event => {
    if (event.detail.target?.id === "refusal") event.target.closest?.("dialog[open]")?.close();
  });
  /* What was renewed in place may ask for something else now. */
  addEventListener("htmx:oobAfterSwap", event => { if (event.target.id) window.htmx.process(event.target); });
  document.addEventListener("lbp:renewed", event => window.htmx.process(event.detail.target));
  addEventListener("htmx:afterSettle", event => {
    begin();
    if (event.detail.target?.id !== "pane" && event.target.id !== "pane") return;
    going = null;
    settle();
    lookAhead();
  });
  /* Back and forward show the candidate of that address in the pane: the document stays where it is read, and nothing
     is sent again. */
  addEventListener("popstate", event => {
    if (!$("#candidates") || !event.state?.htmx) return;
    event.stopImmediatePropagation();
    open(location.href);
  }, true);
  setInterval(runClaim, 5000);
  note();
  begin();
  if ($("#candidates")) lookAhead();
  if ($("#candidates") && (!document.activeElement || document.activeElement === document.body)) settle({ still: true });
})();
