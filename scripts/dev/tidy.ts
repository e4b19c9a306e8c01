/** `npm run tidy`: checks that a linter does not make, one line for each finding. */
import { readSources } from "./sources/read";
import { parseCommandLine, runProgram } from "../terminal/command-line";
import { root } from "./testing/commands";
import { tidyFindings } from "./tidy/run";

const usage = `Usage: npm run tidy

Prints one line for each of these:
  - a mark of unfinished work, a test that is switched off or on alone
  - an export that nobody imports, a file that nobody reaches
  - a unit test that does not stand at the path of the file that it tests
  - files that import each other in a circle, or against the table of layers, type-only imports included
  - a citation of a rule, hazard or invariant, a link or a path of a page that leads nowhere
  - a citation of a file of upstream that the table of them does not have, and the other way round
  - a section of a page that the project does not have
  - a page that README.md does not list, or whose first line does not say for whom it is
  - a sentence with more than thirty words, of a page of docs/ or of a comment outside of the tests
  - a name of a type that src declares more than once, or a wing if the type is private
  - a word that a page sets in italics as a term, and that docs/internals/glossary.md does not have
  - a shell that is too long; arrows between wings or lengths of shells that docs/internals/architecture.md does not have
  - bounds of operations or prices that docs/edge.md does not have

  --write             writes the computed parts of pages anew: architecture.md, deploy.md, edge.md
  --cited             writes the table of upstream's files anew; needs Go
  --help              this text

Exit code: 0 nothing is found, 1 something is, 2 wrong options.`;

const FLAG = { type: "boolean", default: false } as const;

await runProgram({
  name: "tidy",
  usage,
  parse: (args) => parseCommandLine("npm run tidy", { args, options: { write: FLAG, cited: FLAG } }),
  main: async ({ values: { write, cited } }) => {
    const sources = readSources(root);
    const findings = await tidyFindings({ root, sources, write, cited });
    for (const line of findings) console.log(line);
    const sum = findings.length === 0 ? `${String(sources.size)} files, nothing to mend` : `${String(findings.length)} findings`;
    console.log(`tidy: ${sum}`);
    return findings.length === 0 ? 0 : 1;
  },
});
