/** The table of what newer clients know beyond the served version, from the tables of upstream's facts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Addition, additions, changes, factsIn } from "../../../test/support/values/upstream-table";
import { row } from "./markdown";

const SUITE = "test/unit/api/schema/types-newer.test.ts";

export function newerClients(root: string): string {
  const facts = (version: string) => factsIn(readFileSync(join(root, "test", "fixtures", "upstream", `kubernetes-${version}.tsv`), "utf8"));
  const [older, newer] = [facts("1.36"), facts("1.37")];
  const gone = additions(newer, older).map(
    ({ message, members }) => `\`${short(message)}.${members.map(({ name }) => name).join("`, `")}\``,
  );
  const changed = changes(older, newer).map((member) => `\`${short(member)}\``);
  return [
    "## What client-go 0.37 adds",
    "",
    `k8s.io/api v0.37.2 has these members of served kinds beyond v0.36. The server is a 1.36, also to a client of 1.37. It drops them from JSON and protobuf, and names them in`,
    `warnings as any unknown member. Under \`fieldValidation=Strict\` it refuses them (\`${SUITE}\`).`,
    "",
    row(["message", "members"]),
    row(["---", "---"]),
    ...additions(older, newer).map((addition) =>
      row([nameOf(addition), addition.members.map(({ name, type }) => `\`${name}: ${short(type)}\``).join(", ")]),
    ),
    "",
    `What 1.37 has no more, and 1.36 and this server have: ${gone.join(", ")}. A list with other keys in 1.37: ${changed.join(", ")}. Nothing else of a served kind differs.`,
  ].join("\n");
}

function nameOf({ message, isNew }: Addition): string {
  return `${short(message)}${isNew ? " (new)" : ""}`;
}

/** `[]io.k8s.api.core.v1.EvictionResponder` -> `[]EvictionResponder` */
function short(type: string): string {
  return type.replace(/io\.k8s\.(?:api|apimachinery)\.[a-z0-9.]*/, "");
}
