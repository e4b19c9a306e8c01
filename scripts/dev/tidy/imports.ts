/** Which file imports which: circles between files, arrows between wings, imports against the table of layers. */
import { dirname, relative } from "node:path/posix";
import { importViolation } from "../layers";

/** Path of a file -> paths of the files that it imports, type-only imports included. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/**
 * Files that import each other, directly or by way of others: one list of paths for each knot of them, sorted. Empty where imports form no circle.
 * Tarjan's algorithm.
 */
export function circles(imports: Imports): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const knots: string[][] = [];
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    stack.push(file);
    let low = number;
    let importsItself = false;
    for (const target of imports.get(file) ?? []) {
      if (target === file) importsItself = true;
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? number);
    }
    if (low === number) {
      const knot = stack.splice(stack.indexOf(file));
      if (knot.length > 1 || importsItself) knots.push(knot.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return knots;
}

/**
 * The arrows between wings: `from -> to`, once for each pair of which a file of the first imports one of the second. Sorted.
 *
 * @param wingOf the wing of a path; undefined for files outside of all wings, which have no arrows
 */
export function arrows(imports: Imports, wingOf: (path: string) => string | undefined): { from: string; to: string }[] {
  const found = new Map<string, { from: string; to: string }>();
  for (const [file, targets] of imports) {
    const from = wingOf(file);
    for (const target of targets) {
      const to = wingOf(target);
      if (from === undefined || to === undefined || from === to) continue;
      found.set(`${from} ${to}`, { from, to });
    }
  }
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

/** Imports of files that the table of layers does not allow: one line each. Packages are left to lint. */
export function layerFindings(imports: Imports): string[] {
  return [...imports].flatMap(([file, targets]) =>
    targets.flatMap((target) => {
      const path = relative(dirname(file), target);
      const violation = importViolation(file, path.startsWith(".") ? path : `./${path}`, false);
      return violation === undefined ? [] : [`${file}: ${violation}`];
    }),
  );
}
