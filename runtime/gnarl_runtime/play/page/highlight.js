// Lines of a spec in, coloured pieces out, by the rules of the TextMate grammar that editors use.

const SCOPES = [
  ["comment", "comment"], ["string", "string"], ["constant.numeric", "number"], ["constant", "constant"],
  ["keyword.declaration", "block"], ["keyword.operator.logical", "logic"], ["keyword.operator", "sign"],
  ["keyword", "word"], ["support.function.fold", "fold"], ["support.function", "builtin"],
  ["entity.name", "name"], ["storage", "type"], ["variable.other.declaration", "name"],
];
const classOf = (scope) => (SCOPES.find(([start]) => scope && scope.startsWith(start)) || [null, ""])[1];

export function makeHighlighter(rules) {
  const text = rules.find((rule) => rule.begin);
  const plain = rules.filter((rule) => rule.match)
    .map((rule) => ({ ...rule, pattern: new RegExp(rule.match, "yd"), kind: classOf(rule.name) }));

  // Pieces [class, text] of one line, and whether a text in quotes goes on in the next.
  return function pieces(line, within) {
    const found = [];
    let at = 0;
    const add = (kind, until) => { if (until > at) { found.push([kind, line.slice(at, until)]); at = until; } };
    if (within) {
      const end = closing(line, 0);
      add("string", end < 0 ? line.length : end);
      if (end < 0) return { found, within: true };
    }
    while (at < line.length) {
      if (line[at] === text.begin) {
        const end = closing(line, at + 1);
        add("string", end < 0 ? line.length : end);
        if (end < 0) return { found, within: true };
        continue;
      }
      const hit = first(line, at);
      if (!hit) { add("", at + 1); continue; }
      const { rule, match } = hit;
      if (!rule.captures) { add(rule.kind, at + match[0].length); continue; }
      match.indices.forEach((span, k) => {
        if (k === 0 || !span || !rule.captures[k] || span[0] < at) return;
        add("", span[0]);
        add(classOf(rule.captures[k].name), span[1]);
      });
      add("", match.index + match[0].length);
    }
    return { found, within: false };
  };

  function first(line, at) {
    for (const rule of plain) {
      rule.pattern.lastIndex = at;
      const match = rule.pattern.exec(line);
      if (match && match[0]) return { rule, match };
    }
    return null;
  }
}

// Where a text in quotes is over, behind the sign; -1: not in this line.
function closing(line, from) {
  for (let k = from; k < line.length; k++) {
    if (line[k] === "\\") k++;
    else if (line[k] === '"') return k + 1;
  }
  return -1;
}
