/* The list of findings beside the reader: j and k go through it as n and p do, and it grows before its end is reached.
   Without this script the list is a page at a time, by links. */
(() => {
  "use strict";
  const $$ = query => [...document.querySelectorAll(query)];
  const box = document.querySelector("[data-findings]");
  if (!box) return;

  /* The next part comes while its link is still far below the window, so that nobody steps over the end. */
  const NEAR = 1200;
  const watcher = new IntersectionObserver(entries => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || target.dataset.asked) continue;
      target.dataset.asked = "yes";
      target.click();
    }
  }, { root: box, rootMargin: `${NEAR}px 0px` });
  const watch = () => {
    watcher.disconnect();
    for (const link of $$("[data-findings] [data-more]")) watcher.observe(link);
  };

  const step = by => {
    const all = $$("[data-findings] a.finding");
    if (!all.length) return;
    const shown = all.findIndex(one => one.getAttribute("aria-current") === "true");
    const current = shown >= 0 ? shown : all.indexOf(document.activeElement);
    const next = all[current < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, current + by))];
    next.focus({ preventScroll: true });
    next.click();
  };
  addEventListener("keydown", event => {
    const by = { j: 1, k: -1 }[event.key];
    if (!by || event.defaultPrevented || event.repeat || window.LBP?.typing(event)) return;
    if (document.documentElement.dataset.shortcuts === "off") return;
    event.preventDefault();
    step(by);
  }, true);

  addEventListener("htmx:afterSettle", watch);
  watch();
})();
