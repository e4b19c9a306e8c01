/**
 * The names of types, each with one meaning: an exported one is declared once in src, a private one once in its wing. Two types of one name make a
 * reader think of the wrong one.
 */
import { placeOf } from "../layers";
import type { Source } from "../sources/read";

type Declaring = Pick<Source, "path" | "types">;

interface Declaration {
  name: string;
  path: string;
  line: number;
  wing: string;
  isExported: boolean;
}

/** A name that a file declares although another one has it. */
interface NameException {
  name: string;
  path: string;
  reason: string;
}

const FRAME = "to be renamed or removed after the frame of controllers";

/** Names of Kubernetes' own, each with its reason, and those that wait for a change under way. */
const NAME_EXCEPTIONS: readonly NameException[] = [
  ["BoundPod", "src/nodes/lifecycle/bound-pods.ts"],
  ["ControllerPorts", "src/endpoints/controller/ports.ts"],
  ["Disruption", "src/nodes/lifecycle/zone-turns.ts"],
  ["Eviction", "src/nodes/taint-eviction/evictions.ts"],
  ["Followed", "src/addresses/repair/repair-ports.ts"],
  ["Listing", "src/controllers/garbage-collection/stored-graph.ts"],
  ["NodeState", "src/proxy-health/pushed/health-tally.ts"],
  ["Outcome", "src/nodes/lifecycle/lifecycle-writes.ts"],
  ["Pass", "src/controllers/namespaces/namespace-deletion.ts"],
  ["Round", "src/addresses/repair/round.ts"],
  ["Taint", "src/nodes/lifecycle/node-state.ts"],
  ["Taint", "src/nodes/taint-eviction/tolerations.ts"],
  ["Toleration", "src/nodes/taint-eviction/tolerations.ts"],
  ["Verb", "src/endpoints/controller/endpoints-pass.ts"],
  ["Written", "src/endpoints/controller/slice-writer.ts"],
].map(([name = "", path = ""]) => ({ name, path, reason: FRAME }));

/** One finding, with all places, for each name that is declared more than once, and for each exception that nothing needs. */
export function repeatedTypeNames(files: Iterable<Declaring>, exceptions: readonly NameException[] = NAME_EXCEPTIONS): string[] {
  const declarations = [...files].flatMap(declarationsOf);
  const isException = ({ name, path }: Declaration): boolean => exceptions.some((one) => one.name === name && one.path === path);
  const problems = (considered: readonly Declaration[]): string[] =>
    [...byName(considered)].flatMap(([name, found]) => problemOf(name, found));
  const unneeded = exceptions.filter((one) => {
    const others = declarations.filter((declared) => declared.name === one.name);
    const counted = others.filter((declared) => declared.path === one.path || !isException(declared));
    return problemOf(one.name, counted).length === 0;
  });
  return [
    ...problems(declarations.filter((declared) => !isException(declared))),
    ...unneeded.map(({ name, path }) => `scripts/dev/tidy/type-names.ts excepts ${name} of ${path}, which nothing needs`),
  ];
}

/** The types of src, and those of the shells that no other file sees: a shell is named as its brain in src. */
function declarationsOf({ path, types }: Declaring): Declaration[] {
  const wing = placeOf(path)?.wing;
  if (wing === undefined || path.endsWith(".d.ts")) return [];
  const isInSource = path.startsWith("src/");
  return types.flatMap((type) => (isInSource || !type.isExported ? [{ ...type, path, wing }] : []));
}

function byName(declarations: readonly Declaration[]): Map<string, Declaration[]> {
  const found = new Map<string, Declaration[]>();
  for (const declared of declarations) found.set(declared.name, [...(found.get(declared.name) ?? []), declared]);
  return found;
}

function problemOf(name: string, found: readonly Declaration[]): string[] {
  const inSource = found.filter(({ path }) => path.startsWith("src/"));
  if (inSource.length > 1 && inSource.some(({ isExported }) => isExported))
    return [`${placesOf(inSource)} declare the exported type ${name}`];
  const wings = [...new Set(found.map(({ wing }) => wing))];
  return wings.flatMap((wing) => {
    const inWing = found.filter((declared) => declared.wing === wing);
    return inWing.length > 1 ? [`${placesOf(inWing)} declare the type ${name} in one wing`] : [];
  });
}

function placesOf(declarations: readonly Declaration[]): string {
  return declarations.map(({ path, line }) => `${path}:${String(line)}`).join(", ");
}
