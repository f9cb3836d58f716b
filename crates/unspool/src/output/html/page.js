"use strict";
(() => {
  const root = document.documentElement;
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const entries = [...document.getElementsByTagName("article")];
  const number = (entry) => Number(entry.id.slice(1)) - 1;
  const bar = $(".bar"), nav = $("#outline"), field = $("#q"), hits = $("#hits"), keys = $("#keys");
  const act = (name) => $(`[data-action="${name}"]`);
  root.dataset.script = "";
  bar.hidden = false;

  // Scroll targets must not end up below the bar.
  const measure = () => {
    const isAbove = getComputedStyle(bar).position === "sticky";
    root.style.setProperty("--top", `${isAbove ? bar.offsetHeight : 0}px`);
  };

  // Storage may be unavailable: settings then last as long as the page.
  const remembered = (name, value) => {
    try {
      if (value === undefined) return localStorage.getItem("unspool." + name);
      localStorage.setItem("unspool." + name, value);
    } catch { return null; }
  };

  // Theme

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const theme = (name) => {
    root.dataset.theme = name;
    act("theme").textContent = isDark() ? "Light" : "Dark";
  };
  theme(remembered("theme") === "dark" || remembered("theme") === "light" ? remembered("theme") : isDark() ? "dark" : "light");
  const switchTheme = () => { theme(isDark() ? "light" : "dark"); remembered("theme", root.dataset.theme); };

  // Filters: one style rule hides all entries of a kind

  const KINDS = [
    ["prompt", "Prompts"], ["answer", "Answers"], ["reasoning", "Reasoning"], ["tool", "Tools"], ["edit", "Edits"],
    ["plan", "Plans"], ["question", "Questions"], ["context", "Context"], ["notice", "Notices"], ["usage", "Usage"], ["unknown", "Unknown"],
  ];
  const main = $("main");
  const hidden = new Set();
  let onlyErrors = false;
  const kindOf = (entry) => entry.classList[1];
  const isShown = (entry) => !hidden.has(kindOf(entry)) && (!onlyErrors || entry.classList.contains("failed"));
  const counts = new Map();
  for (const entry of entries) counts.set(kindOf(entry), (counts.get(kindOf(entry)) || 0) + 1);
  const errors = main.getElementsByClassName("failed").length;
  const filterButton = (kind, name, count, pressed) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.kind = kind;
    button.setAttribute("aria-pressed", pressed);
    const figure = document.createElement("small");
    figure.textContent = count;
    button.append(name, figure);
    $(".kinds").append(button);
    return button;
  };
  for (const [kind, name] of KINDS) if (counts.has(kind)) filterButton(kind, name, counts.get(kind), true);
  if (errors) filterButton("failed", "Errors", errors, false).classList.add("failures");
  const filter = () => {
    for (const [kind] of KINDS) main.classList.toggle("no-" + kind, hidden.has(kind));
    main.classList.toggle("only-failed", onlyErrors);
    for (const button of $$(".kinds button")) {
      const kind = button.dataset.kind;
      button.setAttribute("aria-pressed", kind === "failed" ? onlyErrors : !hidden.has(kind));
    }
    search(field.value);
  };
  const toggleKind = (kind) => {
    if (kind === "failed") onlyErrors = !onlyErrors;
    else if (!hidden.delete(kind)) hidden.add(kind);
    filter();
  };

  // Current position

  let here = -1;
  const mark = (index) => {
    entries[here]?.classList.remove("current");
    here = index;
    entries[here]?.classList.add("current");
  };
  const go = (index, to = "start") => {
    const entry = entries[index];
    if (!entry) return;
    mark(index);
    entry.scrollIntoView({ block: to });
    const handle = $("summary, .gutter a", entry);
    handle?.focus({ preventScroll: true });
    history.replaceState(null, "", "#" + entry.id);
    onOutline(index);
  };
  // The first step starts at the first visible entry.
  const start = () => {
    if (here >= 0) return here;
    const top = bar.getBoundingClientRect().bottom;
    return entries.findIndex((entry) => entry.getBoundingClientRect().bottom > top) - 1;
  };
  const step = (by, wanted) => {
    for (let index = start() + by; index >= 0 && index < entries.length; index += by) {
      if (isShown(entries[index]) && wanted(entries[index])) return go(index);
    }
  };
  const has = (name) => (entry) => entry.classList.contains(name);
  const isAsked = (entry) => entry.matches(".prompt:not(.nested)");

  // Folds

  const details = () => document.querySelectorAll("main details:not(.more)");
  const openAtFirst = new Set($$("main details[open]"));
  let allOpen = false;
  let folding = 0;
  const setFolds = (isOpen) => {
    allOpen = isOpen(null);
    act("fold-all").textContent = allOpen ? "Close all" : "Open all";
    const list = details(), turn = ++folding;
    let index = 0;
    const some = () => {
      if (turn !== folding) return;
      const until = performance.now() + 12;
      for (; index < list.length && performance.now() < until; index++) list[index].open = isOpen(list[index]);
      if (index < list.length) setTimeout(some);
    };
    some();
  };
  const reveal = (node) => {
    for (let at = node; at && at !== main; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  const expandAll = () => setFolds(() => true);
  const foldAll = () => setFolds(() => false);
  const resetFolds = () => setFolds((fold) => openAtFirst.has(fold));
  const foldsOf = (entry) => (entry ? $$("details:not(.more)", entry) : []);
  const unfold = (entry) => { for (const fold of foldsOf(entry)) fold.open = true; };
  const toggle = () => {
    const folds = foldsOf(entries[here]), open = !folds[0]?.open;
    for (const fold of folds) fold.open = open;
  };
  // The sections of an open entry follow, or are closed first.
  const more = () => {
    const entry = entries[here];
    if (!entry) return;
    if (foldsOf(entry).every((fold) => fold.open)) for (const section of $$(".more", entry)) section.open = true;
    unfold(entry);
  };
  const less = () => {
    const entry = entries[here];
    if (!entry) return;
    const sections = $$(".more[open]", entry);
    for (const fold of sections.length ? sections : foldsOf(entry)) fold.open = false;
  };

  // Deep links

  const target = () => {
    const entry = /^#e\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!entry) return;
    if (!isShown(entry)) { hidden.clear(); onlyErrors = false; filter(); }
    unfold(entry);
    mark(number(entry));
    onOutline(here);
    entry.scrollIntoView();
  };
  addEventListener("hashchange", target);

  // Search. Runs a few milliseconds at a time; highlights do not change the
  // document.

  const MOST_MARKS = 3000;
  const canMark = typeof Highlight === "function" && CSS.highlights;
  const lower = (text) => {
    const all = text.toLowerCase();
    if (all.length === text.length) return all;
    return [...text].map((c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join("");
  };
  // Searchable text: no line numbers, no buttons, no duplicates.
  const isWords = (parent) => !/^(numbers|copy|visually-hidden)/.test(parent.className) && parent.parentElement.className !== "gutter";
  const nodesOf = (entry) => {
    const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT), nodes = [];
    const twice = $(".columns", entry);
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement;
      if (isWords(parent) && !(twice && parent.closest(".columns"))) nodes.push(node);
    }
    return nodes;
  };
  const offsets = (entry, words) => {
    const nodes = nodesOf(entry), text = lower(nodes.map((node) => node.data).join("")), found = [];
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) found.push(at);
    return { nodes, found };
  };
  const ranges = (entry, words) => {
    const { nodes, found } = offsets(entry, words), list = [];
    let index = 0, before = 0;
    const place = (at) => {
      while (index < nodes.length - 1 && before + nodes[index].length < at) before += nodes[index++].length;
      return [nodes[index], at - before];
    };
    for (const at of found) {
      const range = new Range();
      range.setStart(...place(at));
      range.setEnd(...place(at + words.length));
      list.push(range);
    }
    return list;
  };
  let turn = 0, words = "", places = [], total = 0, now = null, done = true;
  const report = () => {
    const rank = now ? places.slice(0, now.place).reduce((sum, place) => sum + place.count, 0) + now.index + 1 : 0;
    hits.textContent = !words ? "" : `${rank ? rank + " of " : ""}${total}${done ? "" : "…"}`;
  };
  const clear = () => {
    for (const place of places) place.entry.classList.remove("found");
    if (canMark) { CSS.highlights.delete("hit"); CSS.highlights.delete("now"); }
    places = []; total = 0; now = null; done = true;
  };
  const search = (query) => {
    clear();
    words = lower(query.trim());
    const own = ++turn;
    if (!words) return report();
    done = false;
    const marks = [];
    let index = 0, reported = 0;
    // Each visible change costs a layout of the whole page.
    const update = (time) => {
      reported = time;
      if (canMark && (done || !CSS.highlights.has("hit"))) CSS.highlights.set("hit", new Highlight(...marks));
      report();
    };
    const some = () => {
      if (own !== turn) return;
      const begin = performance.now();
      for (; index < entries.length && performance.now() < begin + 20; index++) {
        const entry = entries[index];
        if (!isShown(entry) || !lower(entry.textContent).includes(words)) continue;
        const list = canMark && marks.length < MOST_MARKS ? ranges(entry, words) : null;
        const count = list ? list.length : offsets(entry, words).found.length;
        if (!count) continue;
        if (list) marks.push(...list.slice(0, MOST_MARKS - marks.length));
        places.push({ entry, count });
        if (!canMark) entry.classList.add("found");
        total += count;
      }
      done = index >= entries.length;
      if (done || begin - reported > 250) update(begin);
      if (!done) setTimeout(some);
    };
    some();
  };
  const jump = (by) => {
    if (!places.length) return;
    if (!now) {
      const at = places.findIndex((place) => number(place.entry) >= Math.max(here, 0));
      const place = by > 0 ? Math.max(at, 0) : (at > 0 ? at : places.length) - 1;
      now = { place, index: by > 0 ? 0 : places[place].count - 1 };
    } else {
      now.index += by;
      if (now.index < 0 || now.index >= places[now.place].count) {
        now.place = (now.place + by + places.length) % places.length;
        now.index = by > 0 ? 0 : places[now.place].count - 1;
      }
    }
    const { entry } = places[now.place], range = ranges(entry, words)[now.index];
    mark(number(entry));
    if (range) {
      reveal(range.startContainer.parentElement);
      if (canMark) {
        const current = new Highlight(range);
        current.priority = 1;
        CSS.highlights.set("now", current);
      }
      range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
      // An element may be taller than the screen: scroll to the match itself.
      const box = range.getBoundingClientRect(), top = bar.getBoundingClientRect().bottom;
      const pane = range.startContainer.parentElement.closest("pre, .diff");
      if (pane) pane.scrollTop += box.top - pane.getBoundingClientRect().top - pane.clientHeight / 2;
      const at = range.getBoundingClientRect();
      if (at.top < top + 20 || at.bottom > innerHeight - 20) scrollBy(0, at.top - innerHeight / 2);
    }
    onOutline(here);
    report();
  };
  let typing = 0;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => search(field.value), 120);
  });

  // Side-by-side diffs, built when a diff is first shown that way

  const runLines = (pre) => pre.textContent.split("\n").length;
  const column = () => Object.assign(document.createElement("div"), { className: "rows" });
  const cell = (classes, content) => {
    const pre = Object.assign(document.createElement("pre"), { className: classes });
    if (typeof content === "string") pre.textContent = content;
    else pre.append(...content);
    return pre;
  };
  const copyRun = (to, gutter, text, numbers) => {
    to.append(cell(gutter.className, numbers ?? gutter.textContent), cell(text.className, [...text.cloneNode(true).childNodes]));
  };
  const filler = (to, lines) => {
    if (lines > 0) to.append(cell("numbers filler", "\n".repeat(lines - 1) + " "), cell("lines filler", "\n".repeat(lines - 1) + " "));
  };
  const twoColumns = (diff) => {
    if ($(".columns", diff)) return;
    const left = column(), right = column();
    let removed = 0, added = 0;
    const even = () => { filler(left, added - removed); filler(right, removed - added); removed = added = 0; };
    const rows = [...diff.firstElementChild.children];
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index], text = rows[index + 1];
      if (row.tagName === "P") {
        even();
        left.append(row.cloneNode(true));
        right.append(row.cloneNode(true));
        continue;
      }
      index++;
      if (row.classList.contains("removed")) {
        even();
        copyRun(left, row, text);
        removed = runLines(text);
      } else if (row.classList.contains("added")) {
        copyRun(right, row, text);
        added = runLines(text);
        even();
      } else {
        even();
        const first = Number(row.dataset.old);
        const old = row.dataset.old && row.textContent.split("\n").map((_, line) => first + line).join("\n");
        copyRun(left, row, text, old);
        copyRun(right, row, text);
      }
    }
    even();
    const two = document.createElement("div");
    two.className = "columns";
    two.append(left, right);
    diff.append(two);
  };
  // Keep the scroll positions of both columns in sync.
  document.addEventListener("scroll", ({ target }) => {
    if (target.parentElement?.className !== "columns") return;
    for (const other of target.parentElement.children) other.scrollLeft = target.scrollLeft;
  }, true);
  const seen = new IntersectionObserver((list) => {
    for (const item of list) if (item.isIntersecting) { seen.unobserve(item.target); twoColumns(item.target); }
  }, { rootMargin: "1000px" });
  const split = () => {
    const on = root.classList.toggle("split");
    act("split").setAttribute("aria-pressed", on);
    remembered("split", on ? "yes" : "no");
    if (on) for (const diff of $$(".diff:not(.list)")) seen.observe(diff);
    else seen.disconnect();
  };

  // Outline: prompts, edits, errors

  const MOST_LINES = 2000;
  const outline = () => {
    if (nav.childElementCount) return;
    const list = main.querySelectorAll(".prompt:not(.nested), .edit, .failed");
    for (const entry of [...list].slice(0, MOST_LINES)) {
      const link = document.createElement("a");
      const is = (name) => entry.classList.contains(name);
      link.href = "#" + entry.id;
      link.className = is("prompt") ? "prompt" : is("failed") ? "failed" : "edit";
      const text = ($(".heading", entry) || $(".prose > :not(.copy), .plain p", entry) || entry).textContent.trim();
      link.textContent = text.slice(0, 160);
      link.title = text.slice(0, 400);
      nav.append(link);
    }
    const note = document.createElement("p");
    if (!list.length) note.textContent = "No prompts, edits or errors.";
    if (list.length > MOST_LINES) note.textContent = `${list.length - MOST_LINES} more are not listed.`;
    if (note.textContent) nav.append(note);
    onOutline(here);
  };
  const onOutline = (index) => {
    if (nav.hidden) return;
    $(".current", nav)?.classList.remove("current");
    const links = $$("a", nav);
    const link = links.findLast((link) => Number(link.hash.slice(2)) - 1 <= index);
    link?.classList.add("current");
    link?.scrollIntoView({ block: "nearest" });
  };
  const showOutline = (on) => {
    nav.hidden = !on;
    document.body.classList.toggle("outlined", on);
    act("outline").setAttribute("aria-expanded", on);
    if (on) outline();
  };

  // Copying

  const textOf = (box) => {
    const change = $(".diff > .rows", box);
    if (!change) return nodesOf(box).map((node) => node.data).join("").trim();
    const lines = [];
    for (const pre of $$(":scope > .lines", change)) {
      const sign = pre.classList.contains("added") ? "+" : pre.classList.contains("removed") ? "-" : " ";
      const bare = change.parentElement.classList.contains("list");
      lines.push(...pre.textContent.split("\n").map((line) => (bare ? line : sign + line)));
    }
    return lines.join("\n");
  };
  const copied = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // The clipboard API may be unavailable for local files: fall back to execCommand.
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "visually-hidden";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    if (!button) return;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1200);
  };
  const copyEntry = () => {
    const entry = entries[here];
    if (entry) copied($$(".prose, .plain, .heading", entry).filter((box) => !box.parentElement.closest(".prose, .plain")).map(textOf).join("\n"));
  };

  // Clicks and keys, one listener each

  const ACTIONS = {
    "next-match": () => jump(1), "previous-match": () => jump(-1), outline: () => showOutline(nav.hidden), split, "fold-all": () => (allOpen ? foldAll() : expandAll()),
    theme: switchTheme, keys: () => keys.showModal(),
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.action) ACTIONS[button.dataset.action]();
    else if (button?.dataset.kind) toggleKind(button.dataset.kind);
    else if (button?.classList.contains("copy")) copied(textOf(button.parentElement), button);
    else if (event.target.closest("nav a") && innerWidth < 960) showOutline(false);
    else {
      const entry = event.target.closest("article");
      if (entry) mark(number(entry));
    }
  });
  $(".find").addEventListener("submit", (event) => { event.preventDefault(); jump(1); });
  // One line, as the arrow keys scroll.
  const LINE = 40;
  const endSearch = () => { field.value = ""; search(""); field.blur(); };
  // The keys of `unspool view`: the table is `keys.rs`.
  const KEYS = {
    j: () => scrollBy(0, LINE), k: () => scrollBy(0, -LINE), b: () => scrollBy(0, bar.offsetHeight - innerHeight),
    J: () => step(1, () => true), K: () => step(-1, () => true),
    p: () => step(1, isAsked), P: () => step(-1, isAsked),
    e: () => step(1, has("failed")), E: () => step(-1, has("failed")),
    d: () => step(1, has("edit")), D: () => step(-1, has("edit")),
    g: () => go(0), G: () => go(entries.length - 1, "end"),
    Enter: toggle, o: toggle, l: more, h: less, a: expandAll, z: foldAll, "=": resetFolds,
    "/": () => { field.focus(); field.select(); }, n: () => jump(1), N: () => jump(-1), Escape: endSearch,
    f: () => $(".kinds button")?.focus(), y: copyEntry, s: split, c: ACTIONS.outline, T: switchTheme, "?": ACTIONS.keys,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    if (event.target === field) {
      if (event.key === "Escape") endSearch();
      if (event.key === "Enter") { event.preventDefault(); jump(event.shiftKey ? -1 : 1); field.blur(); }
      return;
    }
    if (event.key === "Escape" && !nav.hidden && innerWidth < 960) return showOutline(false);
    // Enter on a link, a button or a heading does what it always does.
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const does = KEYS[event.key];
    if (does) { event.preventDefault(); does(); }
  });

  // Printing: open folded content, which some browsers cannot do by style

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = $$("details:not([open])");
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });

  measure();
  addEventListener("resize", measure);
  if (remembered("split") === "yes") split();
  if (innerWidth >= 1500 && entries.length > 3) showOutline(true);
  target();
})();
