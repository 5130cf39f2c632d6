/* The outline: chapters, headings, parts and sources, found on the server (documents/outlining.py). A column where the
   reader is wide, else it lies over the text. The current heading follows the scroll. */
LBPReader.part(reader => {
  "use strict";
  const { $, $$, below, element, fill, framed, idle, number } = LBPReader.kit;
  const SLICE = 200;
  const WIDE = 58;
  const JUMP = 0.06;
  const { root, holder, words } = reader;
  const panel = reader.part("outline");
  const list = reader.part("headings");
  const filter = $("input", panel);
  const button = reader.part("outline-button");
  const chapter = reader.part("chapter");
  let headings = null, starts = [], links = [], now = -1, built = false, listed = "";

  const isWide = () => root.clientWidth >= WIDE * parseFloat(getComputedStyle(document.documentElement).fontSize);
  /* A wide reader has the column from the first paint (reader.css), unless it was closed or there is nothing to list. */
  const isOpen = () => (isWide() ? root.dataset.lookOutline !== "closed" && !root.hasAttribute("data-outline-none") : root.hasAttribute("data-outline-over"));
  const tell = () => {
    panel.hidden = !isOpen();
    button.setAttribute("aria-expanded", String(isOpen()));
    if (isOpen()) build();
  };
  const open = () => {
    if (isWide()) {
      reader.keepPlace(() => { root.removeAttribute("data-outline-none"); LBPReaderLook.apply(root, LBPReaderLook.write("outline", "open")); tell(); });
    } else { root.setAttribute("data-outline-over", ""); tell(); }
    if (headings?.length) filter.focus(); else panel.focus();
    if (now >= 0) links[now]?.scrollIntoView({ block: "center" });
  };
  const close = () => {
    if (isWide()) reader.keepPlace(() => { LBPReaderLook.apply(root, LBPReaderLook.write("outline", "closed")); tell(); });
    else { root.removeAttribute("data-outline-over"); tell(); }
    holder.focus({ preventScroll: true });
  };
  /* With the column open, the key goes to its field; from there it takes Esc or the button to close it. */
  reader.deeds.outline = event => (isOpen() ? (event?.detail ? close() : filter.focus()) : open());
  reader.deeds["outline-close"] = close;

  /* ---- what it lists ------------------------------------------------------------------------------------ */
  const asked = fetch(words.outlineUrl, { credentials: "same-origin" })
    .then(answer => (answer.ok && !answer.redirected ? answer.json() : null)).catch(() => null);
  const load = async () => {
    const found = await asked;
    if (found) take(found); else reader.part("outline-note").textContent = words.wordOutlineFailed;
  };
  const take = ({ headings: rows, found }) => {
    headings = rows.map(([start, end, level, title]) => ({ start: reader.units.of(start), end: reader.units.of(end), level, title }));
    starts = headings.map(({ start }) => start);
    reader.headings = headings;
    listed = !found ? words.wordOutlineNone : found > rows.length ? fill(words.wordOutlineSome, { n: number(rows.length), all: number(found) }) : "";
    reader.part("outline-note").textContent = listed;
    paint();
    reader.tell("headings");
    if (!headings.length && isOpen() && isWide()) reader.keepPlace(() => { root.setAttribute("data-outline-none", ""); tell(); });
    else { root.toggleAttribute("data-outline-none", !headings.length); tell(); }
    follow();
  };
  const paint = () => {
    const own = (reader.headed || []).map(({ start, end }) => [start, end]);
    reader.paint("heading", [...(headings || []).map(({ start, end }) => [start, end]), ...own].filter(([, end]) => end <= reader.text.length));
  };
  const build = () => {
    if (built || !headings) return;
    built = true;
    let n = 0;
    const more = () => {
      const slice = new DocumentFragment();
      for (const stop = Math.min(headings.length, n + SLICE); n < stop; n += 1) {
        const { start, level, title } = headings[n];
        const link = element("a", { href: "#reader", title }, element("span", { className: "clip" }, title), element("small", {}, `${Math.floor((100 * start) / (reader.text.length || 1))}%`));
        link.dataset.depth = level;
        link.dataset.n = n;
        link.lang = reader.first.lang;
        links.push(link);
        slice.append(element("li", {}, link));
      }
      list.append(slice);
      sift();
      if (n < headings.length) idle(more); else { now = -1; follow(); }
    };
    more();
  };
  const sift = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const link of links) link.parentElement.hidden = Boolean(wanted) && !headings[link.dataset.n].title.toLowerCase().includes(wanted);
    const none = Boolean(wanted) && links.length === headings.length && !shown().length;
    reader.part("outline-note").textContent = none ? words.wordNone : listed;
  };

  /* ---- the heading one reads under ------------------------------------------------------------------------ */
  /* A heading counts from where a jump puts it, a little below the top; at the beginning nothing was read yet. */
  const read = () => (holder.scrollTop ? Math.max(reader.seen.start, reader.top(holder.clientHeight * JUMP + reader.line() / 2)) : 0);
  const follow = framed(() => {
    if (!headings || !reader.seen) return;
    const at = below(starts, read() + 1) - 1;
    if (at === now && links[at]?.hasAttribute("aria-current")) return;
    links[now]?.removeAttribute("aria-current");
    now = at;
    chapter.textContent = at < 0 ? "" : headings[at].title;
    chapter.title = chapter.textContent;
    const link = links[at];
    if (!link) return;
    link.setAttribute("aria-current", "true");
    if (panel.hidden || panel.contains(document.activeElement) || panel.matches(":hover")) return;
    const box = list.getBoundingClientRect(), row = link.getBoundingClientRect();
    if (row.top < box.top || row.bottom > box.bottom) list.scrollTop += row.top - box.top - box.height / 3;
  });
  reader.when("scroll", follow);
  reader.when("marks", paint);
  reader.when("ready", load);
  reader.when("resized", tell);

  list.addEventListener("click", event => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    const { start, end } = headings[link.dataset.n];
    reader.jump(start, end, { down: JUMP });
    if (!isWide()) close();
  });
  filter.addEventListener("input", sift);
  const shown = () => links.filter(link => !link.parentElement.hidden);
  panel.addEventListener("keydown", event => {
    if (event.isComposing || event.keyCode === 229) return;
    const all = shown(), at = all.indexOf(document.activeElement);
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); if (isWide()) holder.focus({ preventScroll: true }); else close(); }
    if (event.key === "Enter" && event.target === filter) { event.preventDefault(); all[0]?.click(); }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (event.key === "ArrowUp" && at <= 0) filter.focus();
    else (event.key === "ArrowDown" ? all[at + 1] || all[0] : all[at - 1])?.focus();
  });
  reader.closeOver = () => { if (!root.hasAttribute("data-outline-over")) return false; close(); return true; };
});
