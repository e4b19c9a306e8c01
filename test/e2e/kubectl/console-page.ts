/**
 * A page of the docs as something to run. In it
 *   - a ```yaml block that begins with `# name.yaml` is a file of that name in the working folder;
 *   - a ```console block is typed into a shell: `$ ` begins a command, `> ` continues it, what follows is what the terminal shows;
 *   - in that output `…` stands for any text of a line, and a line of its own for any lines. Runs of spaces count as one: the widths of
 *     kubectl's columns depend on ages.
 */

/** One thing to do with the page, in its order. */
type Step =
  { kind: "file"; line: number; name: string; content: string } | { kind: "command"; line: number; command: string; output: string[] };

/** The steps of a page in Markdown; `line` is 1-based. Other blocks are prose. Throws on output without a command. */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  const lines = markdown.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const [, language = ""] = /^```(\w+)$/.exec(lines[i] ?? "") ?? [];
    if (!language) continue;
    const first = i + 1;
    while (lines[++i] !== "```") if (i >= lines.length) throw new Error(`line ${String(first)}: the block does not end`);
    const block = lines.slice(first, i);
    const [, name] = /^# (\S+\.yaml)$/.exec(block[0] ?? "") ?? [];
    if (language === "yaml" && name) steps.push({ kind: "file", line: first + 1, name, content: `${block.join("\n")}\n` });
    if (language === "console") steps.push(...commandsOf(block, first + 1));
  }
  return steps;
}

function commandsOf(block: readonly string[], firstLine: number): Step[] {
  const commands: Extract<Step, { kind: "command" }>[] = [];
  block.forEach((text, i) => {
    const last = commands.at(-1);
    if (text.startsWith("$ ")) commands.push({ kind: "command", line: firstLine + i, command: text.slice(2), output: [] });
    else if (!last) throw new Error(`line ${String(firstLine + i)}: output without a command`);
    else if (text.startsWith("> ") && last.output.length === 0) last.command += `\n${text.slice(2)}`;
    else last.output.push(text);
  });
  return commands;
}

/** Whether what a terminal shows is what the page promises. */
export function shows(output: readonly string[], text: string): boolean {
  const pattern = output.map((line) => (line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escaped).join(".*")}\\n`)).join("");
  return new RegExp(`^${pattern}$`).test(normal(text));
}

/** One space for each run of them, none at the end of a line, one newline at the end. */
function normal(text: string): string {
  const lines = text.trimEnd().split("\n");
  return lines.length === 1 && lines[0] === "" ? "" : lines.map((line) => `${line.replaceAll(/ +/g, " ").trimEnd()}\n`).join("");
}

function escaped(text: string): string {
  return text.replaceAll(/ +/g, " ").replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
