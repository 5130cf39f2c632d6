/* Find: every hit counted, the near ones marked first, stepped through. Case, whole words, full against half width
   (on in a Chinese text), and both ways of writing an accented letter (NFC, NFD). The needle is text, never a pattern. */
LBPReader.part(reader => {
  "use strict";
  const { $$, below, fill, idle, number, pause, PAINTED } = LBPReader.kit;
  const AT_ONCE = 2000;
  const SLICE = 500;
  const { root, words } = reader;
  const field = reader.part("find");
  const output = reader.part("hits");
  const note = reader.part("many");
  const options = { case: false, word: false, width: reader.first.lang.startsWith("zh") };
  let hits = [], long = 0, ends = null, hit = -1, painting = 0;

  /* ---- folding: what is not to matter is made equal, by tables that keep the length -------------- */
  const WIDE = new Map([["\u3000", " "], ["｡", "。"], ["｢", "「"], ["｣", "」"], ["､", "、"]]);
  const hasWide = /[\u3000\uff01-\uff64]/;
  const narrowed = text => {
    if (!hasWide.test(text)) return text;
    const units = new Uint16Array(text.length);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      units[at] = code >= 0xff01 && code <= 0xff5e ? code - 0xfee0
        : code === 0x3000 || (code >= 0xff61 && code <= 0xff64) ? WIDE.get(text[at]).charCodeAt(0) : code;
    }
    return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units);
  };
  /* Lower case without a change of length: "İ" and its like stay as they are. */
  const lowered = text => {
    const lower = text.toLowerCase();
    if (lower.length === text.length) return lower;
    return Array.from(text, letter => { const low = letter.toLowerCase(); return low.length === letter.length ? low : letter; }).join("");
  };
  /* NFC with the way back: at[] holds where the changed clusters begin when composed, from[] and upto[] where they
     begin and end in the text. Only a text that is not composed already needs it. */
  const composed = text => {
    if (text.normalize("NFC") === text) return { text, map: null };
    const at = [], from = [], upto = [], out = [];
    let length = 0, done = 0;
    for (const { 0: cluster, index } of text.matchAll(/[^\p{M}\u1100-\u11ff]\p{M}+|[\u1100-\u11ff]+\p{M}*|[\u0340-\u0387\u0958-\u095f\u1f71-\u1fff\u2126\u212a\u212b\u2329\u232a\uf900-\ufaff\u{1d15e}-\u{1d1c0}\u{2f800}-\u{2fa1d}]/gu)) {
      const short = cluster.normalize("NFC");
      if (short === cluster) continue;
      out.push(text.slice(done, index), short);
      length += index - done;
      at.push(length); from.push(index); upto.push(index + cluster.length);
      length += short.length;
      done = index + cluster.length;
      at.push(length); from.push(done); upto.push(done);
    }
    out.push(text.slice(done));
    return { text: out.join(""), map: { at, from, upto } };
  };
  const back = (map, place, isEnd) => {
    const n = below(map.at, place + 1) - 1;
    if (n < 0) return place;
    const inside = n % 2 === 0;  /* within a changed cluster: all of it */
    if (!inside) return map.from[n] + place - map.at[n];
    return isEnd && place > map.at[n] ? map.upto[n] : map.from[n];
  };
  /* A field has no line ends: what is pasted over one into it has a space there. */
  const folded = text => {
    text = text.replaceAll("\n", " ");
    if (options.width) text = narrowed(text);
    return options.case ? text : lowered(text);
  };
  let kept = null;
  const haystack = () => {
    const key = `${options.case} ${options.width}`;
    if (kept?.key === key && kept.of === reader.text) return kept;
    const { text, map } = composed(reader.text);
    kept = { key, of: reader.text, text: folded(text), map };
    return kept;
  };

  /* ---- whole words: a Han character stands by itself ----------------------------------------------- */
  const LETTER = /[\p{L}\p{N}\p{M}_]/u;
  const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
  const letter = character => Boolean(character) && LETTER.test(character) && !HAN.test(character);
  const before = (text, at) => {
    const code = text.charCodeAt(at - 1);
    return code >= 0xdc00 && code < 0xe000 ? text.slice(at - 2, at) : text[at - 1];
  };
  const after = (text, at) => (at < text.length ? String.fromCodePoint(text.codePointAt(at)) : "");
  const whole = (text, start, end) =>
    !(letter(before(text, start)) && letter(after(text, start))) && !(letter(before(text, end)) && letter(after(text, end)));

  /* ---- searching ------------------------------------------------------------------------------------- */
  const search = ({ stay = false } = {}) => {
    const wanted = folded(field.value.normalize("NFC"));
    hits = []; ends = null; long = wanted.length;
    if (wanted) collect(wanted);
    else kept = null;  /* a copy of the whole text is not kept for nobody */
    tellMany();
    draw();
    if (!hits.length) {
      hit = -1;
      painting += 1;
      reader.paint("hit", []);
      reader.paint("hit-now", []);
      output.textContent = wanted ? words.wordNone : "";
      return;
    }
    go(below(hits, reader.top()) % hits.length, { first: true, stay });
  };
  const collect = wanted => {
    const { text, map } = haystack();
    const found = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (!options.word || whole(text, at, at + wanted.length)) found.push(at);
    }
    hits = found;
    if (!map) return;
    hits = found.map(at => back(map, at, false));
    ends = found.map(at => back(map, at + long, true));
  };
  const endOf = n => (ends ? ends[n] : hits[n] + long);
  const spans = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, n) => [hits[from + n], endOf(from + n)]);
  /* The hits around here at once, more of them in slices, up to a bound. */
  let painted = [0, 0];
  const mark = center => {
    const turn = (painting += 1);
    const from = Math.max(0, Math.min(center - PAINTED / 2, hits.length - PAINTED));
    const to = Math.min(hits.length, from + PAINTED);
    const a = Math.max(from, center - AT_ONCE / 2), b = Math.min(to, a + AT_ONCE);
    painted = [from, to];
    const highlight = reader.paint("hit", spans(a, b));
    if (!highlight || (a === from && b === to)) return;
    const more = async () => {
      for (let low = a, high = b; low > from || high < to;) {
        await pause();
        if (turn !== painting) return;
        const nextHigh = Math.min(to, high + SLICE), nextLow = Math.max(from, low - SLICE);
        for (const [start, end] of [...spans(high, nextHigh), ...spans(nextLow, low)]) highlight.add(reader.still(start, end));
        high = nextHigh; low = nextLow;
      }
      reader.painted.set("hit", spans(from, to));
    };
    more();
  };
  const go = (place, { first = false, stay = false } = {}) => {
    if (!hits.length) return;
    hit = (place + hits.length) % hits.length;
    const start = hits[hit], end = endOf(hit);
    /* Scrolled before it is painted: painting first would have the page measured twice. */
    if (!stay && first) reader.jump(start, end, { why: "find" });
    else if (!stay) reader.show(start, end);
    if (first || hit < painted[0] || hit >= painted[1]) mark(hit);
    reader.paint("hit-now", [[start, end]]);
    output.textContent = `${number(hit + 1)}/${number(hits.length)}`;
  };
  const tellMany = () => {
    note.hidden = hits.length <= PAINTED;
    note.textContent = note.hidden ? "" : fill(words.wordMany, { n: number(hits.length), marked: number(PAINTED) });
  };
  const draw = () => {
    reader.hits = hits;
    reader.tell("hits");
  };

  reader.searchFor = wanted => { field.value = wanted; search(); return hits.length; };
  reader.isFinding = () => Boolean(field.value);
  reader.endFind = () => { field.value = ""; search(); };

  /* ---- listening --------------------------------------------------------------------------------------- */
  const show = () => { for (const el of $$("[data-reader-option]", root)) el.setAttribute("aria-pressed", String(options[el.dataset.readerOption])); };
  const toggle = event => {
    const name = event.target.closest("[data-reader-option]").dataset.readerOption;
    options[name] = !options[name];
    show();
    search();
    field.focus();
  };
  Object.assign(reader.deeds, { "hit-next": () => go(hit + 1), "hit-back": () => go(hit - 1), option: toggle });
  field.addEventListener("focus", () => idle(() => { if (document.activeElement === field) haystack(); }));
  field.addEventListener("blur", () => { if (!field.value) kept = null; });
  field.addEventListener("input", event => { if (!event.isComposing) search(); });
  field.addEventListener("compositionend", () => search());
  field.addEventListener("keydown", event => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter") { event.preventDefault(); go(hit + (event.shiftKey ? -1 : 1)); }
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); reader.holder.focus({ preventScroll: true }); }
  });
  addEventListener("keydown", event => {
    if (event.key !== "F3" || event.ctrlKey || event.metaKey || event.altKey || !root.isConnected) return;
    event.preventDefault();
    if (!hits.length) { field.focus(); field.select(); } else go(hit + (event.shiftKey ? -1 : 1));
  });
  reader.when("ready", () => { if (field.value) search({ stay: true }); });
  show();
});
