/* What every page of work on a sample adds: the claim's number goes with whatever is sent, and active time is counted.
   Both are additions: without this script forms carry no number, and no time is counted. */
(() => {
  "use strict";
  const $ = query => document.querySelector(query);

  /* ---- the claim's number ------------------------------------------------------------------------------
     Taken when the form is sent, whichever way it is sent: as a page, as a fragment, by saving while typing. */
  const OURS = /\/(samples|candidates|remarks)\//;
  addEventListener("formdata", event => {
    const claim = $("[data-claim]")?.dataset.claim;
    if (claim && OURS.test(event.target.getAttribute("action") || "") && !event.formData.has("claim")) event.formData.set("claim", claim);
  });

  /* ---- active time ---------------------------------------------------------------------------------------
     A second counts while the page is visible and its person has pressed, moved, clicked or scrolled within the last
     minute. Sums leave every half minute and on leaving; one that was not answered goes again under the same number. */
  const clock = $("#clock[data-time]");
  if (!clock) return;
  const IDLE = 60_000, EVERY = 30_000, TICK = 1_000, LEAST = 1;
  let acted = Date.now(), ticked = Date.now(), told = Date.now(), total = Number(clock.dataset.seconds) || 0;
  let sums = {}, pending = null, sending = false, stopped = false;

  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"]) {
    addEventListener(name, () => { acted = Date.now(); }, { capture: true, passive: true });
  }
  addEventListener("scroll", () => { acted = Date.now(); }, { capture: true, passive: true });

  /* The page says its step; at the desk the pane does. */
  const ENDED = { passed: "select", discarded: "read", "": "read" };
  const step = () => {
    if (clock.dataset.step) return clock.dataset.step;
    const said = $("#pane")?.dataset.step;
    if (said) return ENDED[said] || said;
    if ($('#pane [name="checklist"]')) return "submit";
    if ($("#pane .pick")) return "select";
    const at = $("#dock")?.dataset.step || "";
    return ENDED[at] || at;
  };
  const count = () => {
    const now = Date.now();
    /* A machine that slept, or a window in the background, wakes with a gap: what lies in it was not work. */
    const passed = Math.min(now - ticked, 2 * TICK) / 1000;
    ticked = now;
    if (document.visibilityState === "visible" && now - acted < IDLE) sums[step()] = (sums[step()] || 0) + passed;
  };
  const show = () => {
    const minutes = Math.round(total / 60);
    if (minutes) clock.lastElementChild.textContent = clock.dataset.minutes.replace("{minutes}", minutes);
  };
  const number = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const token = () => {
    try { return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || ""; } catch { return ""; }
  };
  const tell = async () => {
    if (stopped || sending) return;
    told = Date.now();
    if (!pending) {
      const all = Object.values(sums).reduce((sum, part) => sum + part, 0);
      if (all < LEAST) return;
      pending = { beat: number(), seconds: sums };
      sums = {};
    }
    sending = true;
    try {
      const answer = await fetch(clock.dataset.time, {
        method: "POST", keepalive: true, body: JSON.stringify(pending),
        headers: { "Content-Type": "application/json", "X-CSRFToken": token() },
      });
      if (answer.ok) { total += (await answer.json()).counted || 0; show(); }
      if (answer.status < 500) pending = null;
      /* Signed out, or the work went to somebody else: there is nothing to tell any more. */
      if ([401, 403, 404].includes(answer.status)) stopped = true;
    } catch { /* not answered: the same beat goes again */ }
    finally { sending = false; }
  };
  setInterval(() => { count(); if (Date.now() - told >= EVERY) tell(); }, TICK);
  const leave = () => { count(); tell(); };
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") leave(); else { ticked = acted = Date.now(); } });
  addEventListener("pagehide", leave);
  /* The step ends with the fragment that shows it: its last seconds are its own. */
  addEventListener("htmx:beforeSwap", count);
})();
