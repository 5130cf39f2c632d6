/* A part of a page that renews itself in place: hx-ext="renew" hx-swap="renew" changes only what has changed, so the
   place of the focus, marked text, ticks, open details, typed text and scroll positions stay where they are.

   Rows of a list need an id each: a tick belongs to its row, wherever that has moved to. The part asks for itself by an
   element in it (hx-trigger="every 3s", hx-target="#part"); when the server leaves that out, the asking ends. */
(() => {
  "use strict";
  /* What the reader or a script has set is not the server's to take back. */
  const OWN = new Set(["open", "aria-busy", "data-sending", "data-dirty", "data-began"]);
  const isOwn = (element, name) => OWN.has(name)
    || (name === "disabled" && element.matches("[data-needs]"))
    || (name === "hidden" && element.matches("[data-choose-all]"))
    || (name === "class" && element.className?.toString().includes("htmx-"));

  const sameKind = (old, wanted) => old.nodeType === wanted.nodeType
    && (old.nodeType !== Node.ELEMENT_NODE || (old.tagName === wanted.tagName && old.id === wanted.id));

  const renewAttributes = (old, wanted) => {
    for (const { name, value } of [...wanted.attributes]) {
      if (!isOwn(old, name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      if (!wanted.hasAttribute(name) && !isOwn(old, name)) old.removeAttribute(name);
    }
  };

  const renew = (old, wanted, made) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
      return;
    }
    if (old.hasAttribute("data-stays")) return;
    renewAttributes(old, wanted);
    renewChildren(old, wanted, made);
  };

  const renewChildren = (old, wanted, made) => {
    const ids = new Set([...wanted.children].map(child => child.id).filter(Boolean));
    let at = old.firstChild;
    const past = node => { const next = node.nextSibling; node.remove(); return next; };
    for (const child of [...wanted.childNodes]) {
      while (at && at.id && at.id !== child.id && !ids.has(at.id)) at = past(at);
      if (at && sameKind(at, child)) { renew(at, child, made); at = at.nextSibling; continue; }
      const kept = child.id ? [...old.children].find(one => one.id === child.id && sameKind(one, child)) : null;
      if (kept) { old.insertBefore(kept, at); renew(kept, child, made); continue; }
      old.insertBefore(child, at);
      if (child.nodeType === Node.ELEMENT_NODE) made.push(child);
    }
    while (at) at = past(at);
  };

  const define = () => window.htmx.defineExtension("renew", {
    isInlineSwap: style => style === "renew",
    handleSwap: (style, target, fragment) => {
      if (style !== "renew") return false;
      const made = [];
      const wanted = target.id ? fragment.querySelector(`#${CSS.escape(target.id)}`) || fragment.firstElementChild : fragment.firstElementChild;
      if (wanted) renew(target, wanted, made);
      document.dispatchEvent(new CustomEvent("lbp:renewed", { detail: { target } }));
      return made;
    },
  });
  if (window.htmx) define(); else addEventListener("DOMContentLoaded", define);
})();
