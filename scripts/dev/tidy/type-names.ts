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

/** One finding, with all places, for each name that is declared more than once. */
export function repeatedTypeNames(files: Iterable<Declaring>): string[] {
  return [...byName([...files].flatMap(declarationsOf))].flatMap(([name, found]) => problemOf(name, found));
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
