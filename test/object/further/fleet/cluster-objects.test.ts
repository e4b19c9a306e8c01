/** What clients of the kind Cluster expect of any kind, with the whole Worker and its real controller. */
import { beforeEach, expect, it, vi } from "vitest";
import { AccessWorld, type Answer } from "../../../support/access/access-world";
import { PATIENCE } from "../../../support/objects/patience";

const OBJECTS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
const TYPE = { apiVersion: "servicenet.dev/v1alpha1", kind: "Cluster" };

interface Shown {
  metadata: {
    name: string;
    generation: number;
    deletionTimestamp?: string;
    finalizers?: string[];
    managedFields?: { manager: string; operation: string }[];
  };
  spec?: object;
  status?: { phase?: string };
}

let world: AccessWorld;
beforeEach(() => (world = new AccessWorld()));

/** A name of this world: tests have `default` together. */
const named = (suffix: string): string => `${world.cluster}-${suffix}`;
const shown = ({ body }: Answer): Shown => body as unknown as Shown;
const read = (suffix: string): Promise<Answer> => world.ask("GET", `${OBJECTS}/${named(suffix)}`);

async function make(...suffixes: string[]): Promise<void> {
  for (const suffix of suffixes) {
    await world.make(OBJECTS, { metadata: { name: named(suffix), labels: { world: world.cluster } }, spec: { controllers: ["*"] } });
  }
  for (const suffix of suffixes) await becomesActive(suffix);
}

async function becomesActive(suffix: string): Promise<void> {
  await vi.waitFor(async () => expect(shown(await read(suffix)).status?.phase).toBe("Active"), PATIENCE);
}

function apply(suffix: string, spec: object, query: string): Promise<Answer> {
  const headers = { "Content-Type": "application/apply-patch+yaml" };
  return world.ask("PATCH", `${OBJECTS}/${named(suffix)}?${query}`, {
    body: { ...TYPE, metadata: { name: named(suffix) }, spec },
    headers,
  });
}

/** Suffixes of the names in a list, which the query selects. */
async function listed(query: string): Promise<{ names: string[]; next: string }> {
  const { code, body } = await world.ask("GET", `${OBJECTS}?${query}`);
  expect(code).toBe(200);
  const { items, metadata } = body as unknown as { items: Shown[]; metadata: { continue?: string } };
  return { names: items.map(({ metadata: { name } }) => name.slice(world.cluster.length + 1)), next: metadata.continue ?? "" };
}

const ROWS: readonly [title: string, run: () => Promise<unknown>, wanted: unknown][] = [
  [
    "a dry run of a create: shows the object, and makes neither it nor the cluster",
    async () => {
      const tried = await world.ask("POST", `${OBJECTS}?dryRun=All`, { body: { ...TYPE, metadata: { name: named("a") } } });
      const { metadata, status } = shown(tried);
      const after = [(await read("a")).code, (await world.ask("GET", `/clusters/${named("a")}`)).code];
      return [tried.code, metadata.finalizers, status?.phase, ...after];
    },
    [201, ["servicenet.dev/cluster"], "Pending", 404, 404],
  ],
  [
    "a dry run of a change: shows the next generation, and changes nothing",
    async () => {
      await make("a");
      const headers = { "Content-Type": "application/merge-patch+json" };
      const body = { spec: { controllers: ["*", "-namespace-controller"] } };
      const tried = await world.ask("PATCH", `${OBJECTS}/${named("a")}?dryRun=All`, { body, headers });
      const { metadata, spec } = shown(await read("a"));
      return [tried.code, shown(tried).metadata.generation, metadata.generation, spec];
    },
    [200, 2, 1, { controllers: ["*"] }],
  ],
  [
    "a dry run of a deletion: the object and its cluster stay as they are",
    async () => {
      await make("a");
      const tried = await world.ask("DELETE", `${OBJECTS}/${named("a")}?dryRun=All`);
      const { metadata, status } = shown(await read("a"));
      const { body } = await world.ask("GET", `/clusters/${named("a")}`);
      return [tried.code, metadata.deletionTimestamp, status?.phase, (body.status as { phase: string }).phase];
    },
    [200, undefined, "Active", "Active"],
  ],
  [
    "a server-side apply: makes the cluster, and is a conflict for another manager unless he forces it",
    async () => {
      const made = await apply("a", { controllers: ["*"] }, "fieldManager=one");
      await becomesActive("a");
      const other = await apply("a", { controllers: ["*", "-namespace-controller"] }, "fieldManager=two");
      const forced = await apply("a", { controllers: ["*", "-namespace-controller"] }, "fieldManager=two&force=true");
      const managers = shown(await read("a")).metadata.managedFields?.filter(({ operation }) => operation === "Apply");
      return [made.code, other.code, other.body.message, forced.code, managers?.map(({ manager }) => manager)];
    },
    [201, 409, 'Apply failed with 1 conflict: conflict with "one": .spec.controllers', 200, ["two"]],
  ],
  [
    "field selectors: the phase and the name; another field is 400",
    async () => {
      await make("a", "b");
      const of = (suffix: string, phase: string) => listed(`fieldSelector=metadata.name=${named(suffix)},status.phase=${phase}`);
      const refused = await world.ask("GET", `${OBJECTS}?fieldSelector=spec.location=weur`);
      return [(await of("b", "Active")).names, (await of("b", "Terminating")).names, refused.code, refused.body.message];
    },
    [["b"], [], 400, expect.stringContaining("spec.location") as string],
  ],
  [
    "limit and continue: each selected object once, in the order of the names",
    async () => {
      await make("c", "a", "b");
      const pages: string[][] = [];
      let token = "";
      do {
        const page = await listed(`labelSelector=world=${world.cluster}&limit=2${token === "" ? "" : `&continue=${token}`}`);
        pages.push(page.names);
        token = page.next;
      } while (token !== "");
      return pages;
    },
    [["a", "b"], ["c"]],
  ],
  [
    "a deletion of all at once: 405",
    async () => {
      const { code } = await world.ask("DELETE", OBJECTS);
      return code;
    },
    405,
  ],
];

it.each(ROWS)("%s", async (_, run, wanted) => {
  expect(await run()).toEqual(wanted);
});
