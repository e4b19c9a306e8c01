/** A small controller for tests of the frame: each object of the store `sources` has a twin with the same data in the store `twins`. */
import type { ConfigMap } from "../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import { objectKey } from "../../../src/api/store/state/keys";
import { FollowedStore } from "../../../src/controllers/followed/followed-store";
import { KeptFacts } from "../../../src/controllers/followed/kept-facts";
import { KeptRows } from "../../../src/controllers/followed/kept-rows";
import { createRequest, deleteRequest, updateRequest } from "../../../src/controllers/followed/write-requests";
import type { Pass } from "../../../src/controllers/frame/controller";
import { Frame } from "../../../src/controllers/frame/frame";
import { outcomeOf } from "../../../src/controllers/frame/round";
import { ControllerWorld, type ControllerWorldPorts } from "./controller-world";

type Kind = "sources" | "twins";

/** Which object an object is, and what it says. */
interface Fact {
  readonly uid: string;
  readonly data: string;
}

const WRITER = { manager: "twins", group: "" };

function twinsPass({ storage, stores, ...ports }: ControllerWorldPorts<Kind>): Pass {
  const rows = new KeptRows(storage);
  const factOf = ({ metadata, data }: ConfigMap): Fact => ({ uid: metadata?.uid ?? "", data: data?.value ?? "" });
  const sources = new KeptFacts<ConfigMap, Fact>(rows, "sources", factOf);
  const twins = new KeptFacts<ConfigMap, Fact>(rows, "twins", factOf);
  const followed = [
    new FollowedStore("sources", stores.sources, sources.reader, rows, ports.recorder),
    new FollowedStore("twins", stores.twins, twins.reader, rows, ports.recorder),
  ];
  return new Frame<string>(ports, {
    rows,
    keeps: [sources, twins],
    follows: () => [followed],
    work: {
      plan: () => [...new Set([...sources.keys, ...twins.keys])].filter((key) => sources.get(key)?.data !== twins.get(key)?.data),
      async write(key) {
        const [wanted, twin] = [sources.get(key), twins.get(key)];
        const object = { metadata: { ...objectKey(key), ...(twin && { uid: twin.uid }) }, ...(wanted && { data: { value: wanted.data } }) };
        const request = !wanted ? deleteRequest(object) : twin ? updateRequest(object, WRITER) : createRequest(object, WRITER);
        return outcomeOf(await stores.twins.write(request));
      },
      nameOf: (key) => key,
      atOnce: 2,
    },
  }).pass;
}

/** Changes of twins ask for a pass, changes of sources do not. */
export class TwinsWorld extends ControllerWorld<Kind> {
  constructor(options: { dieAt?: number; historyEntries?: number } = {}) {
    super({ definitions: { sources: configMapsDefinition, twins: configMapsDefinition }, make: twinsPass, follows: ["twins"], ...options });
  }

  source(name: string, value: string): Promise<void> {
    return this.put("sources", { metadata: { name }, data: { value } } as ConfigMap);
  }

  /** by name: the data of each object of a store */
  data(kind: Kind): Record<string, string> {
    return Object.fromEntries(this.objects<ConfigMap>(kind).map(({ metadata, data }) => [metadata?.name ?? "", data?.value ?? ""]));
  }

  /** by name: what the rows say of the objects of a store */
  kept(kind: Kind): Record<string, string> {
    const facts = this.rows.facts(kind).map(([key, text]): [string, string] => [objectKey(key).name, (JSON.parse(text) as Fact).data]);
    return Object.fromEntries(facts);
  }
}
