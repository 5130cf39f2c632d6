/* Making new texts: a text is trimmed by a slider, parts are joined. Every page works without this script as a plain
   form; here the counts come at once. Rows are chosen by choosing.js. */
(() => {
  "use strict";
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const lang = document.documentElement.lang;
  const grouped = number => number.toLocaleString(lang.startsWith("zh") ? "zh-Hans" : "en");
  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

  /* ---- the exact count of a choice: asked for when the hand rests ---------------------- */
  const asker = (ask, shown, failed) => {
    let timer = 0, running = null;
    return () => {
      clearTimeout(timer);
      running?.abort();
      timer = setTimeout(async () => {
        const own = running = new AbortController();
        try {
          const response = await ask(own.signal);
          const answer = await response.json();
          if (own.signal.aborted) return;
          if (response.ok) shown(answer); else failed(answer.detail);
        } catch { if (!own.signal.aborted) failed(""); }
      }, 180);
    };
  };
  const landing = (tokens, buckets) => {
    const holding = buckets.filter(([, , low, high]) => low <= tokens && tokens <= high);
    holding.sort((a, b) => Math.abs(tokens - a[1]) - Math.abs(tokens - b[1]));
    return holding[0]?.[0] || "";
  };

  /* ---- trimming ------------------------------------------------------------------------ */
  const armTrim = page => {
    const words = page.dataset;
    const [offsets, tokens] = JSON.parse(words.stops);
    const buckets = JSON.parse(words.buckets);
    const [endSlider, startSlider] = [$("#last", page), $("#first", page)];
    const number = $("#tokens", page);
    const commit = $("[data-commit]", page);
    const save = $("button.btn--primary", commit);
    const end = () => +endSlider.value;
    const start = () => +startSlider.value;
    const between = () => tokens[end()] - tokens[start()];
    const tell = (count, bucket, distance, exact) => {
      $("[data-tokens]", page).textContent = fill(exact ? words.wordTokens : words.wordAbout, { n: grouped(count) });
      $("[data-bucket]", page).textContent = bucket ? fill(words.wordBucket, { bucket }) : words.wordNone;
      $("[data-distance]", page).textContent = distance;
      for (const slider of [endSlider, startSlider]) slider.setAttribute("aria-valuetext", $("[data-tokens]", page).textContent);
      for (const row of $$("[data-bucket-row]", page)) {
        if (row.dataset.bucketRow === bucket) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
      }
    };
    const seams = answer => {
      for (const place of $$("[data-show]", page)) {
        const text = answer[place.dataset.show];
        place.textContent = text || words.wordNothing;
        place.parentNode.classList.toggle("seam__none", !text);
      }
    };
    const exactly = asker(
      signal => fetch(`${words.measure}?start=${offsets[start()]}&end=${offsets[end()]}`, { signal, headers: { Accept: "application/json", "HX-Request": "true" } }),
      answer => { tell(answer.tokens, answer.bucket, answer.distance, true); seams(answer); },
      () => { $("[data-distance]", page).textContent = words.wordFailed; },
    );
    const place = () => {
      commit.elements.start.value = offsets[start()];
      commit.elements.end.value = offsets[end()];
      save.disabled = start() === 0 && end() === offsets.length - 1;
    };
    const moved = () => {
      place();
      tell(between(), landing(between(), buckets), "", false);
      exactly();
    };
    const within = limit => {
      let found = start();
      while (found + 1 < tokens.length && tokens[found + 1] - tokens[start()] <= limit) found += 1;
      return found;
    };
    const reach = (limit, low = 0, high = 0) => {
      let found = within(limit);
      if (tokens[found] - tokens[start()] < low) {
        const inside = tokens.findIndex((_, at) => at > start() && tokens[at] - tokens[start()] >= low);
        if (inside > 0 && tokens[inside] - tokens[start()] <= high) found = inside;
      }
      endSlider.value = Math.max(found, start() + 1);
      moved();
    };
    endSlider.addEventListener("input", () => { if (end() <= start()) startSlider.value = end() - 1; moved(); });
    startSlider.addEventListener("input", () => { if (start() >= end()) endSlider.value = start() + 1; moved(); });
    const bigStep = event => {
      const step = { PageUp: 10, PageDown: -10 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.target.value = +event.target.value + step;
      event.target.dispatchEvent(new Event("input", { bubbles: true }));
    };
    endSlider.addEventListener("keydown", bigStep);
    startSlider.addEventListener("keydown", bigStep);
    $("[data-chooser]", page).addEventListener("submit", event => {
      event.preventDefault();
      const by = event.submitter?.dataset.go || event.submitter?.value;
      const bucket = buckets.find(([name]) => name === by);
      if (bucket) reach(bucket[1], bucket[2], bucket[3]);
      else if (by === "tokens" && +number.value > 0) reach(+number.value);
    });
    for (const only of $$("[data-nojs]", page)) only.hidden = true;
    place();
  };

  /* ---- joining: the sum at once, the exact count a moment later -------------------------- */
  const armJoin = form => {
    const words = form.dataset;
    const exactly = asker(
      signal => {
        const body = new FormData(form);
        body.delete("_once");
        body.set("do", "count");
        return fetch(form.action, { method: "POST", body, signal, headers: { Accept: "application/json", "HX-Request": "true" } });
      },
      answer => {
        $("[data-tokens]", form).textContent = fill(words.wordTokens, { n: grouped(answer.tokens) });
        $("[data-bucket]", form).textContent = answer.bucket ? fill(words.wordBucket, { bucket: answer.bucket }) : words.wordNone;
        $("[data-distance]", form).textContent = answer.distance;
      },
      detail => { const place = $("[data-distance]", form); if (place && detail) place.textContent = detail; },
    );
    const again = () => { if (+($("[data-total]", form)?.dataset.n || 0) > 0) exactly(); };
    form.addEventListener("input", event => { if (event.target.name === "headings") again(); });
    addEventListener("htmx:afterSettle", again);
    form.addEventListener("keydown", event => {
      if (event.key !== "Enter" || event.target.id !== "add") return;
      event.preventDefault();
      $('button[value="add"]:not(.vh)', form).click();
    });
    again();
  };

  /* ---- correcting together: to type is to tick -------------------------------------------- */
  const armBulk = form => form.addEventListener("input", event => {
    const box = form.elements.namedItem(`set_${event.target.name}`);
    if (box) box.checked = true;
  });

  $$("[data-trim]").forEach(armTrim);
  $$("[data-join]").forEach(armJoin);
  $$("[data-bulk]").forEach(armBulk);
})();
