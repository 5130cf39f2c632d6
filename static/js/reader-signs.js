/* Characters that one cannot see: what turns the direction of writing, has no width, or stacks marks. They are found
   once, counted in a banner that steps through them, and drawn as bars (reader-sections.js). The text stays as it is. */
LBPReader.part(reader => {
  "use strict";
  const { fill, number, pause } = LBPReader.kit;
  const MOST = 20000;
  const PAINTED = 2000;
  const SLICE = 6;
  const NAMES = {
    0x00ad: ["SOFT HYPHEN", "SHY"], 0x034f: ["COMBINING GRAPHEME JOINER", "CGJ"], 0x061c: ["ARABIC LETTER MARK", "ALM"],
    0x115f: ["HANGUL CHOSEONG FILLER", "HF"], 0x1160: ["HANGUL JUNGSEONG FILLER", "HF"], 0x180e: ["MONGOLIAN VOWEL SEPARATOR", "MVS"],
    0x200b: ["ZERO WIDTH SPACE", "ZWSP"], 0x200c: ["ZERO WIDTH NON-JOINER", "ZWNJ"], 0x200d: ["ZERO WIDTH JOINER", "ZWJ"],
    0x200e: ["LEFT-TO-RIGHT MARK", "LRM"], 0x200f: ["RIGHT-TO-LEFT MARK", "RLM"], 0x2028: ["LINE SEPARATOR", "LS"],
    0x2029: ["PARAGRAPH SEPARATOR", "PS"], 0x202a: ["LEFT-TO-RIGHT EMBEDDING", "LRE"], 0x202b: ["RIGHT-TO-LEFT EMBEDDING", "RLE"],
    0x202c: ["POP DIRECTIONAL FORMATTING", "PDF"], 0x202d: ["LEFT-TO-RIGHT OVERRIDE", "LRO"], 0x202e: ["RIGHT-TO-LEFT OVERRIDE", "RLO"],
    0x2060: ["WORD JOINER", "WJ"], 0x2061: ["FUNCTION APPLICATION", "FA"], 0x2062: ["INVISIBLE TIMES", "IT"],
    0x2063: ["INVISIBLE SEPARATOR", "IS"], 0x2064: ["INVISIBLE PLUS", "IP"], 0x2066: ["LEFT-TO-RIGHT ISOLATE", "LRI"],
    0x2067: ["RIGHT-TO-LEFT ISOLATE", "RLI"], 0x2068: ["FIRST STRONG ISOLATE", "FSI"], 0x2069: ["POP DIRECTIONAL ISOLATE", "PDI"],
    0x3164: ["HANGUL FILLER", "HF"], 0xfeff: ["ZERO WIDTH NO-BREAK SPACE", "BOM"], 0xffa0: ["HALFWIDTH HANGUL FILLER", "HF"],
  };
  /* A joiner between the parts of one emoji does what it is for. */
  const SOUGHT = /[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\u{e0001}-\u{e007f}]|(?<![\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d|\p{M}{20,}/gu;
  const ANY = /[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\u{e0001}-\u{e007f}]|\p{M}{20}/u;
  const banner = reader.part("banner");

  const find = async () => {
    const { text } = reader;
    const at = [], long = [];
    let all = 0;
    if (!ANY.test(text)) return { at, long, all };
    let until = performance.now() + SLICE;
    for (const match of text.matchAll(SOUGHT)) {
      all += 1;
      if (at.length < MOST) { at.push(match.index); long.push(match[0].length); }
      if (all % 500 || performance.now() < until) continue;
      await pause();
      until = performance.now() + SLICE;
    }
    return { at, long, all };
  };
  const hex = code => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const nameOf = n => {
    const { at, long } = reader.signs;
    const code = reader.text.codePointAt(at[n]);
    if (long[n] > 2) return { code: hex(code), name: fill(reader.words.wordStack, { n: number(long[n]) }), short: "◌" };
    if (code >= 0xe0001) return { code: hex(code), name: "TAG CHARACTER", short: "TAG" };
    const [name, short] = NAMES[code] || ["INVISIBLE CHARACTER", "?"];
    return { code: hex(code), name, short };
  };

  let now = -1;
  const step = by => {
    const { at, long } = reader.signs;
    now = now < 0 ? (by > 0 ? 0 : at.length - 1) : (now + by + at.length) % at.length;
    const { code, name } = nameOf(now);
    reader.part("sign").textContent = `${number(now + 1)}/${number(at.length)} · ${code} ${name} · ${fill(reader.words.wordChar, { n: number(reader.units.points(at[now])) })}`;
    reader.paint("invisible-now", [[at[now], at[now] + long[now]]]);
    reader.jump(at[now], at[now] + long[now]);
  };
  Object.assign(reader.deeds, {
    "sign-next": () => step(1), "sign-back": () => step(-1),
    "sign-close": () => { banner.hidden = true; reader.paint("invisible-now", []); },
  });
  reader.when("ready", async () => {
    reader.signs = { ...(await find()), nameOf };
    const { at, long, all } = reader.signs;
    banner.hidden = !all;
    if (!all) return;
    reader.part("signs").textContent = fill(reader.words[all === 1 ? "wordSign" : "wordSigns"], { n: number(all) });
    reader.paint("invisible", at.slice(0, PAINTED).map((start, n) => [start, start + long[n]]));
    reader.tell("look");
  });
});
