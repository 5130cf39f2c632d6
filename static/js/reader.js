/* The reader (templates/components/reader.html): the first part of the text stands in the page, the rest comes in one
   answer and is built into sections in slices that leave the page responsive. This file holds the text, its sections,
   places and marks; reader-*.js add the rest by `LBPReader.part(reader => ...)`.

   * Text is only ever put into text nodes. Marks are ranges painted by the CSS Custom Highlight API: the document tree
     does not change, so selection, copying and the browser's own find keep working.
   * Elements anywhere on the page with data-mark (evidence, finding, heading), data-start and data-end are links to
     their place. The server counts code points, JavaScript UTF-16 units: `Units` converts. "unit" below is UTF-16.
   * window.LBPReader, offsets in code points: { jump(start, end), rescan(), selection(), search(words), ready() }. */
(() => {
  "use strict";
  if (window.LBPReader) return;
  const SECTION = 8000;
  const SLACK = 4000;
  const LINES = 1000;
  const SLICE = 6;
  const PAINTED = 20000;
  const FROM_TOP = 0.38;
  const STEPPED = ["finding", "evidence"];
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const pause = () => (window.scheduler?.yield ? scheduler.yield() : new Promise(done => setTimeout(done)));
  const idle = run => (window.requestIdleCallback ? requestIdleCallback(run, { timeout: 500 }) : setTimeout(run, 50));
  const number = n => n.toLocaleString("en");
  const fill = (words, values) => (words || "").replace(/%\((\w+)\)s/g, (_, name) => values[name] ?? "");
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  /* At most once a frame. */
  const framed = run => {
    let waiting = false;
    return () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; run(); });
    };
  };
  /* How many numbers of a sorted list are smaller. */
  const below = (sorted, wanted) => {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low;
  };

  /* Code points to UTF-16 units and back. Only characters beyond U+FFFF count twice: their places are listed. */
  class Units {
    constructor(text) {
      this.rare = [];   /* in code points */
      this.rareAt = []; /* in units */
      for (let at = text.search(/[\ud800-\udbff]/); at >= 0 && at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code < 0xd800 || code > 0xdbff) continue;
        this.rare.push(at - this.rare.length);
        this.rareAt.push(at);
      }
      if (this.rare.length > 1000) { this.rare = Uint32Array.from(this.rare); this.rareAt = Uint32Array.from(this.rareAt); }
    }
    of(points) { return points + below(this.rare, points); }
    points(units) { return units - below(this.rareAt, units); }
  }

  class Reader {
    constructor(root) {
      this.root = root;
      this.holder = $(".reader__text", root);
      this.first = $(".chunk", this.holder);
      this.words = root.dataset;
      this.sections = [{ el: this.first, at: 0, node: this.first.firstChild || this.first.appendChild(document.createTextNode("")) }];
      this.starts = [0];
      this.marks = [];
      this.at = -1;
      this.painted = new Map();
      this.deeds = { next: () => this.step(1), back: () => this.step(-1) };
      this.heard = {};
      this.jumped = false;
      this.take(this.first.textContent);
      for (const part of parts) part(this);
      this.listen();
      this.scan();
      this.ready = $("[data-reader-rest]", root) ? this.load() : this.whole();
    }
    take(text) {
      this.text = text;
      this.units = new Units(text);
    }
    /* Parts hear of: ready, scroll, marks, section (a new one), before-jump, look, resized. */
    when(name, run) { (this.heard[name] ||= []).push(run); }
    tell(name, detail) { for (const run of this.heard[name] || []) run(detail); }
    part(name) { return $(`[data-reader-${name}]`, this.root); }
    say(text) { window.LBP?.say(text); }

    /* ---- the rest of the text ---- */
    async load() {
      const note = this.part("rest");
      try {
        const answer = await fetch(this.words.textUrl, { credentials: "same-origin" });
        const plain = (answer.headers.get("Content-Type") || "").startsWith("text/plain");
        if (!answer.ok || answer.redirected || !plain) throw new Error(`answered ${answer.status}`);
        const text = await answer.text();
        if (!text.startsWith(this.text)) throw new Error("another text");
        note?.remove();
        await this.build(text);
      } catch (fault) {
        if (note?.isConnected) this.failed(note); else throw fault;
      }
    }
    failed(note) {
      const again = element("button", { type: "button", className: "btn btn--s" }, this.words.wordRetry);
      again.addEventListener("click", () => { again.disabled = true; this.ready = this.load(); });
      note.replaceChildren(`${this.words.wordFailed} `, again);
    }
    async build(text) {
      let at = this.text.length;
      const rows = this.rows();
      while (at < text.length) {
        const until = performance.now() + SLICE;
        const slice = new DocumentFragment();
        do {
          const end = this.cut(text, at);
          const node = document.createTextNode(text.slice(at, end));
          const el = element("div", { className: "chunk", lang: this.first.lang }, node);
          el.dataset.at = at;
          el.style.containIntrinsicSize = `auto ${rows(text, at, end)}px`;
          slice.append(el);
          this.sections.push({ el, at, node });
          this.starts.push(at);
          at = end;
        } while (at < text.length && performance.now() < until);
        this.holder.append(slice);
        await pause();
      }
      this.take(text);
      await pause();
      this.whole();
    }
    async whole() {
      for (const section of this.sections) this.tell("section", section);
      this.scan();
      this.root.dataset.ready = "yes";
      this.tell("ready");
      this.root.dispatchEvent(new CustomEvent("reader:ready", { bubbles: true }));
      this.where();
    }
    /* A section ends behind a line; inside one that does not end near, at a character's end (its marks included). */
    cut(text, at) {
      let end = at;
      for (let lines = 0; lines < LINES; lines += 1) {
        end = text.indexOf("\n", end) + 1;
        if (!end || end - at > SECTION) break;
      }
      if (end && end - at <= SECTION + SLACK) return end;
      if (text.length - at <= SECTION + SLACK) return text.length;
      end = at + SECTION;
      const within = /[\udc00-\udfff\p{M}\u200d\ufe0e\ufe0f]/u;
      const low = unit => { const code = text.charCodeAt(unit); return code >= 0xdc00 && code < 0xe000; };
      while (end < at + SECTION + SLACK && (low(end) || within.test(text[end]))) end += 1;
      return low(end) ? end + 1 : end;
    }
    /* A guess of a section's height, so that the scroll bar tells the truth before the section was ever shown. */
    rows() {
      const style = getComputedStyle(this.first);
      const high = this.line();
      const inner = this.first.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const wide = inner / (parseFloat(style.fontSize) * (this.first.lang.startsWith("zh") ? 1 : 0.46)) || 60;
      return (text, at, stop) => {
        let count = 0, begin = at;
        for (let end = text.indexOf("\n", at); end >= 0 && end < stop; end = text.indexOf("\n", begin)) {
          count += Math.max(1, Math.ceil((end - begin) / wide));
          begin = end + 1;
        }
        return Math.round((count + Math.ceil((stop - begin) / wide)) * high);
      };
    }

    /* ---- places ---- */
    index(unit) { return Math.max(0, below(this.starts, unit + 1) - 1); }
    section(unit) { return this.sections[this.index(unit)]; }
    ends(start, end) {
      const a = this.section(start), b = this.section(Math.max(start, end - 1));
      return {
        startContainer: a.node, startOffset: Math.min(start - a.at, a.node.length),
        endContainer: b.node, endOffset: Math.min(end - b.at, b.node.length),
      };
    }
    range(start, end) {
      const { startContainer, startOffset, endContainer, endOffset } = this.ends(start, end);
      const range = new Range();
      range.setStart(startContainer, startOffset);
      range.setEnd(endContainer, endOffset);
      return range;
    }
    still(start, end) { return new StaticRange(this.ends(start, end)); }
    paint(name, spans) {
      if (!window.CSS?.highlights) return null;
      this.painted.set(name, spans);
      if (!spans.length) { this.painted.delete(name); CSS.highlights.delete(name); return null; }
      const highlight = new Highlight();
      for (const [start, end] of spans.slice(0, PAINTED)) highlight.add(this.still(start, end));
      highlight.priority = name.endsWith("-now") ? 2 : name === "hit" ? 1 : 0;
      CSS.highlights.set(name, highlight);
      return highlight;
    }
    /* After text moved from one node to the next. */
    repaint() { for (const [name, spans] of this.painted) this.paint(name, spans); }
    /* Heights of sections that were never shown are guesses: correct until the place stands still. */
    show(start, end, down = FROM_TOP) {
      const { el } = this.section(start);
      const box = this.holder.getBoundingClientRect();
      const away = el.getBoundingClientRect();
      if (away.bottom < box.top || away.top > box.bottom) this.holder.scrollBy({ top: away.top - box.top, behavior: "instant" });
      const turn = (this.turn = {});
      let tries = 8;
      const settle = () => {
        if (turn !== this.turn) return;
        const range = this.range(start, end);
        const rect = range.getClientRects()[0] || range.getBoundingClientRect();
        /* At the very top the whole line is to be seen, what stands above its letters included. */
        const above = down ? 0 : Math.max(0, (this.line() - rect.height) / 2);
        const off = rect.top - above - this.holder.getBoundingClientRect().top - this.holder.clientHeight * down;
        if (Math.abs(off) < 1 || !tries--) return;
        this.holder.scrollBy({ top: off, behavior: "instant" });
        requestAnimationFrame(settle);
      };
      settle();
    }
    /* A deed of the reader's, which "back" takes back. */
    jump(start, end, { down = FROM_TOP, why = "" } = {}) {
      this.jumped = true;
      this.tell("before-jump", why);
      this.show(start, end, down);
    }

    /* ---- marks: evidence, findings, headings ---- */
    scan() {
      const was = this.marks[this.at];
      const kinds = { evidence: [], finding: [] };
      this.headed = [];
      for (const el of $$("[data-mark][data-start][data-end]")) {
        const mark = this.mark(el);
        if (mark?.kind === "heading") this.headed.push(mark);
        else if (mark && kinds[mark.kind]) kinds[mark.kind].push(mark);
      }
      for (const [kind, marks] of Object.entries(kinds)) {
        const spans = this.spread(kind) || marks.map(mark => [mark.start, mark.end]);
        this.paint(kind, spans.filter(([, end]) => end <= this.text.length));
        if (!marks.length) this.paint(`${kind}-now`, []);
      }
      this.kind = STEPPED.find(kind => kinds[kind].length) || "evidence";
      this.marks = kinds[this.kind];
      this.at = this.marks.findIndex(mark => was && (mark.el === was.el || (mark.start === was.start && mark.end === was.end)));
      if (this.at >= 0) this.marks[this.at].el.setAttribute("aria-current", "true");
      else if (this.kind === "evidence") this.paint("evidence-now", []);
      this.part("steps").hidden = !this.marks.length;
      for (const word of $$("[data-reader-kind]", this.root)) word.hidden = word.dataset.readerKind !== this.kind;
      this.count();
      this.tell("marks");
    }
    /* A list that comes in parts says where all of its marks stand: the text shows them all, and how many there are. */
    spread(kind) {
      const all = $(`[data-mark-all="${kind}"]`);
      return all?.dataset.spans ? all.dataset.spans.split(" ").map(span => span.split("-").map(point => this.units.of(+point))) : null;
    }
    mark(el) {
      const { mark: kind, start, end } = el.dataset;
      if (!/^\d+$/.test(start) || !/^\d+$/.test(end) || +end <= +start) return null;
      return { el, kind, start: this.units.of(+start), end: this.units.of(+end) };
    }
    async go(mark) {
      this.jumped = true;
      await this.ready;
      const at = this.marks.findIndex(other => other.el === mark.el);
      if (at >= 0) { this.at = at; mark = this.marks[at]; } else mark = this.mark(mark.el) || mark;
      for (const el of $$('[data-mark][aria-current="true"]')) el.removeAttribute("aria-current");
      mark.el.setAttribute("aria-current", "true");
      mark.el.scrollIntoView({ block: "nearest" });
      for (const kind of STEPPED) this.paint(`${kind}-now`, kind === mark.kind ? [[mark.start, mark.end]] : []);
      this.jump(mark.start, mark.end);
      this.count();
    }
    step(by) {
      if (!this.marks.length) return;
      const many = this.marks.length;
      const next = this.at < 0 ? (by > 0 ? 0 : many - 1) : this.at + by;
      /* Round the ends only where they are: the end of a part is none. */
      const isPart = many < this.listed().total;
      this.go(this.marks[isPart ? Math.min(many - 1, Math.max(0, next)) : (next + many) % many]);
    }
    listed() {
      const { first = 0, total = this.marks.length } = $(`[data-mark-all="${this.kind}"]`)?.dataset || {};
      return { first: +first, total: +total };
    }
    count() {
      const { first, total } = this.listed();
      this.part("count").textContent = `${this.at < 0 ? "–" : number(first + this.at + 1)}/${number(total)}`;
    }

    /* ---- where in the text ---- */
    line() { return parseFloat(getComputedStyle(this.first).lineHeight) || 24; }
    /* The first line of which more than half is to be seen. */
    topLine() { return this.top(this.line() / 2); }
    top(down = 1) {
      const y = this.holder.getBoundingClientRect().top + down;
      let low = 0, high = this.sections.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.sections[middle].el.getBoundingClientRect().bottom > y) high = middle; else low = middle + 1;
      }
      const section = this.sections[low];
      const rect = section.el.getBoundingClientRect();
      const x = rect.left + parseFloat(getComputedStyle(section.el).paddingLeft) + 2;
      const caret = document.caretPositionFromPoint?.(x, y) || document.caretRangeFromPoint?.(x, y);
      const node = caret?.offsetNode || caret?.startContainer;
      if (node === section.node) return section.at + (caret.offset ?? caret.startOffset);
      this.guessed = true;
      const share = Math.min(1, Math.max(0, (y - rect.top) / (rect.height || 1)));
      return section.at + Math.round(share * section.node.length);
    }
    /* What was not painted yet can only be guessed: look again when it is. */
    where(again = 3) {
      this.guessed = false;
      const start = this.top(), end = this.top(this.holder.clientHeight - 1);
      const point = this.units.points(start);
      const bottom = this.holder.scrollTop + this.holder.clientHeight >= this.holder.scrollHeight - 4;
      this.part("percent").textContent = `${bottom && start ? 100 : Math.floor((100 * point) / (+this.words.chars || 1))}%`;
      this.part("char").textContent = fill(this.words.wordChar, { n: number(point) });
      this.seen = { start, end };
      this.tell("scroll", this.seen);
      if (this.guessed && again) requestAnimationFrame(() => this.where(again - 1));
    }
    /* The line in the middle of the view stays exactly where it is while the look changes. */
    keepPlace(change) {
      const middle = this.top(this.holder.clientHeight * FROM_TOP);
      const down = (this.range(middle, middle + 1).getBoundingClientRect().top - this.holder.getBoundingClientRect().top) / this.holder.clientHeight;
      const start = this.holder.scrollTop;
      change();
      this.tell("look");
      if (start) this.show(middle, middle + 1, down > 0 && down < 1 ? down : FROM_TOP);
    }
    listen() {
      this.root.addEventListener("click", event => this.deeds[event.target.closest("[data-reader-do]")?.dataset.readerDo]?.(event));
      const where = framed(() => this.where());
      this.holder.addEventListener("scroll", where, { passive: true });
      let wide = this.holder.clientWidth;
      new ResizeObserver(framed(() => {
        if (wide !== this.holder.clientWidth) { wide = this.holder.clientWidth; this.tell("resized"); }
        this.where();
      })).observe(this.holder);
    }
  }

  const parts = [];
  let reader = null;
  const begin = () => {
    const root = $("[data-reader]");
    if (root && reader?.root !== root) reader = new Reader(root);
    else reader?.scan();
  };
  window.LBPReader = {
    kit: { $, $$, below, element, fill, framed, idle, number, pause, PAINTED, FROM_TOP },
    part: install => parts.push(install),
    rescan: () => reader?.scan(),
    ready: () => reader?.ready,
    jump: async (start, end) => {
      if (!reader) return;
      reader.jumped = true;
      await reader.ready;
      reader.jump(reader.units.of(start), reader.units.of(end));
    },
    selection: () => reader?.selection?.() ?? null,
    search: words => reader?.searchFor?.(words) ?? 0,
  };
  addEventListener("click", event => {
    const el = event.target.closest?.("[data-mark][data-start]");
    const mark = el && reader?.mark(el);
    if (!mark) return;
    event.preventDefault();
    reader.go(mark);
  });
  addEventListener("htmx:afterSettle", begin);
  /* The parts are deferred scripts as well: all have run when the document is read. */
  if (document.readyState === "complete") begin(); else addEventListener("DOMContentLoaded", begin, { once: true });
})();
