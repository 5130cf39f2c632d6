/* The reader (templates/components/reader.html): the first part of the text stands in the page, the rest comes in one
   answer and is built into sections in slices that leave the page responsive.

   * Text is only ever put into text nodes. Marks are ranges painted by the CSS Custom Highlight API: the document tree
     does not change, so selection, copying and the browser's own find keep working.
   * Elements anywhere on the page with data-mark (evidence, finding, heading), data-start and data-end are links to
     their place. The server counts code points, JavaScript UTF-16 units: `Units` converts.
   * window.LBPReader: { jump(start, end), rescan() }, offsets in code points. */
(() => {
  "use strict";
  if (window.LBPReader) return;
  const SECTION = 8000;
  const SLACK = 4000;
  const SLICE = 6;
  const PAINTED = 20000;
  const FROM_TOP = 0.38;
  const SIZES = [0.75, 0.8125, 0.875, 0.9375, 1, 1.0625, 1.125, 1.25, 1.5, 1.75];
  const STEPPED = ["finding", "evidence"];
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const store = (name, value) => {
    try {
      if (value !== undefined) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch { return null; }  /* storage forbidden: the page goes on without it */
  };
  const pause = () => (window.scheduler?.yield ? scheduler.yield() : new Promise(done => setTimeout(done)));

  /* How many numbers of a sorted list are smaller. */
  const below = (sorted, number) => {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < number) low = middle + 1; else high = middle;
    }
    return low;
  };

  /* Code points to UTF-16 units and back. Only characters beyond U+FFFF count twice: their places are listed. */
  class Units {
    constructor(text) {
      this.rare = [];   /* in code points */
      this.rareAt = []; /* in units */
      if (!/[\ud800-\udbff]/.test(text)) return;
      for (const match of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) {
        this.rare.push(match.index - this.rare.length);
        this.rareAt.push(match.index);
      }
    }
    of(points) { return points + below(this.rare, points); }
    points(units) { return units - below(this.rareAt, units); }
  }

  /* Lower case without a change of length: "İ" and its like stay as they are. */
  const lowered = text => {
    const lower = text.toLowerCase();
    if (lower.length === text.length) return lower;
    return Array.from(text, letter => { const low = letter.toLowerCase(); return low.length === letter.length ? low : letter; }).join("");
  };

  class Reader {
    constructor(root) {
      this.root = root;
      this.holder = $(".reader__text", root);
      this.first = $(".chunk", this.holder);
      this.map = $(".map", root);
      this.words = root.dataset;
      this.sections = [{ el: this.first, at: 0, node: this.first.firstChild || this.first.appendChild(document.createTextNode("")) }];
      this.starts = [0];
      this.marks = [];
      this.at = -1;
      this.hits = [];
      this.hit = -1;
      this.dress();
      this.take(this.first.textContent);
      this.listen();
      this.scan();
      this.ready = $("[data-reader-rest]", root) ? this.load() : this.whole();
    }

    take(text) {
      this.text = text;
      this.units = new Units(text);
      this.lower = null;
    }

    /* ---- the rest of the text ---- */
    async load() {
      const note = $("[data-reader-rest]", this.root);
      try {
        const answer = await fetch(this.words.textUrl, { credentials: "same-origin" });
        const plain = (answer.headers.get("Content-Type") || "").startsWith("text/plain");
        if (!answer.ok || answer.redirected || !plain) throw new Error(`answered ${answer.status}`);
        const text = await answer.text();
        if (!text.startsWith(this.text)) throw new Error("another text");
        note?.remove();
        await this.build(text);
      } catch {
        if (note) this.failed(note);
      }
    }
    failed(note) {
      const again = document.createElement("button");
      again.type = "button";
      again.className = "btn btn--s";
      again.textContent = this.words.wordRetry;
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
          const el = document.createElement("div");
          const node = document.createTextNode(text.slice(at, end));
          el.className = "chunk";
          el.lang = this.first.lang;
          el.dataset.at = at;
          el.append(node);
          el.style.containIntrinsicSize = `auto ${rows(node.data)}px`;
          slice.append(el);
          this.sections.push({ el, at, node });
          this.starts.push(at);
          at = end;
        } while (at < text.length && performance.now() < until);
        this.holder.append(slice);
        await pause();
      }
      this.take(text);
      await this.whole();
    }
    whole() {
      this.scan();
      this.root.dataset.ready = "yes";
      this.root.dispatchEvent(new CustomEvent("reader:ready", { bubbles: true }));
      this.where();
      if (this.find.value) this.search();
      return Promise.resolve();
    }
    /* A section ends behind a line, or in a text without lines anywhere but inside a character. */
    cut(text, at) {
      if (text.length - at <= SECTION + SLACK) return text.length;
      const line = text.indexOf("\n", at + SECTION);
      if (line >= 0 && line < at + SECTION + SLACK) return line + 1;
      const code = text.charCodeAt(at + SECTION);
      return at + SECTION + (code >= 0xdc00 && code < 0xe000 ? 1 : 0);
    }
    /* A guess of a section's height, so that the scroll bar tells the truth before the section was ever shown. */
    rows() {
      const style = getComputedStyle(this.first);
      const high = parseFloat(style.lineHeight) || 26;
      const wide = this.first.clientWidth / (parseFloat(style.fontSize) * (this.first.lang.startsWith("zh") ? 1 : 0.46)) || 60;
      return text => {
        let count = 0, begin = 0;
        for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", begin)) {
          count += Math.max(1, Math.ceil((end - begin) / wide));
          begin = end + 1;
        }
        return Math.round((count + Math.ceil((text.length - begin) / wide)) * high);
      };
    }

    /* ---- places ---- */
    section(unit) { return this.sections[Math.max(0, below(this.starts, unit + 1) - 1)]; }
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
    paint(name, spans) {
      if (!window.CSS?.highlights) return;
      if (!spans.length) { CSS.highlights.delete(name); return; }
      const highlight = new Highlight(...spans.slice(0, PAINTED).map(([start, end]) => new StaticRange(this.ends(start, end))));
      if (name.endsWith("-now")) highlight.priority = 2;
      else if (name === "hit") highlight.priority = 1;
      CSS.highlights.set(name, highlight);
    }
    /* Heights of sections that were never shown are guesses: correct until the place stands still. */
    show(start, end) {
      const { el } = this.section(start);
      const range = this.range(start, end);
      const box = this.holder.getBoundingClientRect();
      const away = el.getBoundingClientRect();
      if (away.bottom < box.top || away.top > box.bottom) el.scrollIntoView({ block: "start", behavior: "instant" });
      let tries = 8;
      const settle = () => {
        const rect = range.getClientRects()[0] || range.getBoundingClientRect();
        const off = rect.top - this.holder.getBoundingClientRect().top - this.holder.clientHeight * FROM_TOP;
        if (Math.abs(off) < 2 || !tries--) return;
        this.holder.scrollBy({ top: off, behavior: "instant" });
        requestAnimationFrame(settle);
      };
      settle();
    }

    /* ---- marks: evidence, findings, headings ---- */
    scan() {
      const current = this.marks[this.at]?.el;
      const kinds = { heading: [], evidence: [], finding: [] };
      for (const el of $$("[data-mark][data-start][data-end]")) {
        const mark = this.mark(el);
        if (mark && kinds[mark.kind]) kinds[mark.kind].push(mark);
      }
      for (const [kind, marks] of Object.entries(kinds)) {
        this.paint(kind, marks.filter(mark => mark.end <= this.text.length).map(mark => [mark.start, mark.end]));
        if (!marks.length) this.paint(`${kind}-now`, []);
      }
      this.kind = STEPPED.find(kind => kinds[kind].length) || "evidence";
      this.marks = kinds[this.kind];
      this.at = this.marks.findIndex(mark => mark.el === current);
      $("[data-reader-steps]", this.root).hidden = !this.marks.length;
      for (const word of $$("[data-reader-kind]", this.root)) word.hidden = word.dataset.readerKind !== this.kind;
      this.count();
      this.draw();
    }
    mark(el) {
      const { mark: kind, start, end } = el.dataset;
      if (!/^\d+$/.test(start) || !/^\d+$/.test(end) || +end <= +start) return null;
      return { el, kind, start: this.units.of(+start), end: this.units.of(+end) };
    }
    async go(mark) {
      await this.ready;
      const at = this.marks.findIndex(other => other.el === mark.el);
      if (at >= 0) { this.at = at; mark = this.marks[at]; } else mark = this.mark(mark.el) || mark;
      for (const el of $$('[data-mark][aria-current="true"]')) el.removeAttribute("aria-current");
      mark.el.setAttribute("aria-current", "true");
      mark.el.scrollIntoView({ block: "nearest" });
      for (const kind of ["heading", ...STEPPED]) this.paint(`${kind}-now`, kind === mark.kind ? [[mark.start, mark.end]] : []);
      this.show(mark.start, mark.end);
      this.count();
    }
    step(by) {
      if (!this.marks.length) return;
      const next = this.at < 0 ? (by > 0 ? 0 : this.marks.length - 1) : (this.at + by + this.marks.length) % this.marks.length;
      this.go(this.marks[next]);
    }
    count() { $("[data-reader-count]", this.root).textContent = `${this.at < 0 ? "–" : this.at + 1}/${this.marks.length}`; }

    /* ---- find ---- */
    get find() { return $("[data-reader-find]", this.root); }
    search() {
      const wanted = lowered(this.find.value);
      this.lower ??= lowered(this.text);
      this.hits = [];
      if (wanted) for (let at = this.lower.indexOf(wanted); at >= 0; at = this.lower.indexOf(wanted, at + wanted.length)) this.hits.push(at);
      this.paint("hit", this.hits.map(at => [at, at + wanted.length]));
      this.draw();
      if (!this.hits.length) {
        this.hit = -1;
        this.paint("hit-now", []);
        $("[data-reader-hits]", this.root).textContent = wanted ? this.words.wordNone : "";
        return;
      }
      this.hitAt(below(this.hits, this.top()) % this.hits.length);
    }
    hitAt(place) {
      if (!this.hits.length) return;
      this.hit = (place + this.hits.length) % this.hits.length;
      const start = this.hits[this.hit], end = start + this.find.value.length;
      this.paint("hit-now", [[start, end]]);
      this.show(start, end);
      $("[data-reader-hits]", this.root).textContent = `${this.hit + 1}/${this.hits.length}`;
    }

    /* ---- where in the text ---- */
    top(down = 1) {
      const box = this.holder.getBoundingClientRect();
      const y = box.top + down;
      const section = this.sections.find(({ el }) => el.getBoundingClientRect().bottom > y) || this.sections.at(-1);
      const rect = section.el.getBoundingClientRect();
      const x = rect.left + 2;
      const caret = document.caretPositionFromPoint?.(x, y) || document.caretRangeFromPoint?.(x, y);
      const node = caret?.offsetNode || caret?.startContainer;
      if (node === section.node) return section.at + (caret.offset ?? caret.startOffset);
      const share = Math.min(1, Math.max(0, (y - rect.top) / (rect.height || 1)));
      return section.at + Math.round(share * section.node.length);
    }
    where() {
      const start = this.top(), end = this.top(this.holder.clientHeight - 1);
      const all = +this.words.chars || 1;
      const point = this.units.points(start);
      const bottom = this.holder.scrollTop + this.holder.clientHeight >= this.holder.scrollHeight - 4;
      $("[data-reader-percent]", this.root).textContent = `${bottom && start ? 100 : Math.floor((100 * point) / all)}%`;
      $("[data-reader-char]", this.root).textContent = this.words.wordChar.replace("%(n)s", point.toLocaleString("en"));
      const size = this.text.length || 1;
      const view = $(".v", this.map);
      view.setAttribute("y", ((1000 * start) / size).toFixed(1));
      view.setAttribute("height", Math.max(6, (1000 * (end - start)) / size).toFixed(1));
    }
    draw() {
      const size = this.text.length || 1;
      const lane = (x, wide, places) => [...new Set(places.map(at => Math.round((500 * at) / size) * 2))].map(y => `M${x} ${y}h${wide}v4h-${wide}z`).join("");
      const mine = this.marks.map(mark => mark.start);
      $(".e", this.map).setAttribute("d", this.kind === "evidence" ? lane(2, 6, mine) : "");
      $(".f", this.map).setAttribute("d", this.kind === "finding" ? lane(2, 6, mine) : "");
      $(".h", this.map).setAttribute("d", lane(9, 5, this.hits));
    }

    /* ---- look ---- */
    dress() {
      const size = +store("lbp:read-size");
      if (SIZES.includes(size)) this.holder.style.setProperty("--read-size", `${size}rem`);
      if (store("lbp:read-face") === "sans") this.holder.dataset.face = "sans";
    }
    resize(by) {
      const now = parseFloat(getComputedStyle(this.first).fontSize) / parseFloat(getComputedStyle(document.documentElement).fontSize);
      const nearest = SIZES.reduce((best, size, i) => (Math.abs(size - now) < Math.abs(SIZES[best] - now) ? i : best), 0);
      const size = SIZES[Math.min(SIZES.length - 1, Math.max(0, nearest + by))];
      this.keepPlace(() => this.holder.style.setProperty("--read-size", `${size}rem`));
      store("lbp:read-size", size);
    }
    face() {
      const sans = this.holder.dataset.face === "sans";
      this.keepPlace(() => { if (sans) delete this.holder.dataset.face; else this.holder.dataset.face = "sans"; });
      store("lbp:read-face", sans ? "serif" : "sans");
    }
    keepPlace(change) {
      const middle = this.top(this.holder.clientHeight * FROM_TOP);
      const start = this.holder.scrollTop;
      change();
      if (start) this.show(middle, middle + 1);
    }

    /* ---- listening ---- */
    listen() {
      const deeds = {
        "hit-next": () => this.hitAt(this.hit + 1), "hit-back": () => this.hitAt(this.hit - 1),
        next: () => this.step(1), back: () => this.step(-1),
        face: () => this.face(), smaller: () => this.resize(-1), larger: () => this.resize(1),
      };
      this.root.addEventListener("click", event => deeds[event.target.closest("[data-reader-do]")?.dataset.readerDo]?.());
      this.find.addEventListener("input", () => this.search());
      this.find.addEventListener("keydown", event => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        this.hitAt(this.hit + (event.shiftKey ? -1 : 1));
      });
      let waiting = false;
      this.holder.addEventListener("scroll", () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => { waiting = false; this.where(); });
      }, { passive: true });
      this.map.addEventListener("click", event => {
        const box = this.map.getBoundingClientRect();
        const at = Math.floor(((event.clientY - box.top) / box.height) * this.text.length);
        this.show(at, at + 1);
      });
    }
  }

  let reader = null;
  const begin = () => {
    const root = $("[data-reader]");
    if (root && reader?.root !== root) reader = new Reader(root);
    else reader?.scan();
  };
  window.LBPReader = {
    rescan: () => reader?.scan(),
    jump: async (start, end) => {
      await reader?.ready;
      reader?.show(reader.units.of(start), reader.units.of(end));
    },
  };
  addEventListener("click", event => {
    const el = event.target.closest?.("[data-mark][data-start]");
    const mark = el && reader?.mark(el);
    if (!mark) return;
    event.preventDefault();
    reader.go(mark);
  });
  addEventListener("htmx:afterSettle", begin);
  begin();
})();
