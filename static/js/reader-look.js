/* How the text looks, kept in this browser. This script stands before the text and is not deferred, so that the text
   is drawn right the first time. window.LBPReaderLook: { read(), write(name, value), apply(root, look) }. */
(() => {
  "use strict";
  if (!window.LBPReaderLook) {
    const SIZES = [0.75, 0.8125, 0.875, 0.9375, 1, 1.0625, 1.125, 1.25, 1.5, 1.75];
    const CHOICES = {
      face: ["serif", "sans"], measure: ["narrow", "medium", "wide"], spacing: ["tight", "normal", "loose"],
      numbers: ["none", "lines", "paragraphs"], signs: ["on", "off"], outline: ["open", "closed"],
    };
    const KEPT = "lbp:read";
    const kept = () => {
      try {
        return JSON.parse(localStorage.getItem(KEPT)) || { size: +localStorage.getItem("lbp:read-size"), face: localStorage.getItem("lbp:read-face") };
      } catch { return {}; }  /* storage forbidden or not ours: the page goes on without it */
    };
    const read = () => {
      const found = kept();
      const look = {};
      for (const [name, values] of Object.entries(CHOICES)) if (values.includes(found[name])) look[name] = found[name];
      if (SIZES.includes(found.size)) look.size = found.size;
      return look;
    };
    const write = (name, value) => {
      const look = { ...read(), [name]: value };
      try { localStorage.setItem(KEPT, JSON.stringify(look)); } catch { /* as above */ }
      return look;
    };
    const apply = (root, look) => {
      for (const name of Object.keys(CHOICES)) if (look[name]) root.dataset[`look${name[0].toUpperCase()}${name.slice(1)}`] = look[name];
      if (look.size) root.style.setProperty("--own-size", `${look.size}rem`);
    };
    window.LBPReaderLook = { SIZES, read, write, apply };
  }
  const root = document.currentScript?.closest("[data-reader]");
  if (root) LBPReaderLook.apply(root, LBPReaderLook.read());
})();
