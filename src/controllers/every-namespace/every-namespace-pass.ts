/**
 * The pass of a controller that keeps one object in each active namespace. Its rows say which namespaces are active, and which have their object. It
 * reads on in the histories of the two stores, so a pass without news costs two calls.
 */
import type { KubeObject, Namespace } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../followed/called-store";
import { FollowedStore } from "../followed/followed-store";
import { KeptFacts } from "../followed/kept-facts";
import { KeptRows } from "../followed/kept-rows";
import type { RowStorage } from "../followed/row-storage";
import { createRequest, updateRequest } from "../followed/write-requests";
import type { Pass } from "../frame/controller";
import { Frame, type FramePorts } from "../frame/frame";
import { type Outcome, outcomeOf } from "../frame/round";
import { isActive, type WantedObject } from "./wanted-object";

const WRITTEN_AT_ONCE = 32;

export interface EveryNamespacePorts extends FramePorts {
  storage: RowStorage;
  namespaces: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
  objects: WrittenStore;
}

export interface EveryNamespaceSetting {
  wanted: WantedObject;
  /** names the store of the objects, and another one after each change of what is wanted: then all objects are read anew */
  objectsName: string;
}

export function everyNamespacePass(
  { storage, namespaces, objects, ...ports }: EveryNamespacePorts,
  { wanted, objectsName }: EveryNamespaceSetting,
): Pass {
  const { name, manager } = wanted;
  const writer = { manager, group: "" };
  const rows = new KeptRows(storage);
  const active = new KeptFacts<Namespace, object>(rows, "namespaces", (namespace) => (isActive(namespace) ? {} : undefined));
  const stored = new KeptFacts<KubeObject, { readonly isRight: boolean }>(rows, "objects", (object) =>
    object.metadata?.name === name ? { isRight: wanted.isRight(object) } : undefined,
  );
  const ofObjects = { ...stored.reader, passesOver: ({ key }: { key: string }) => !key.endsWith(`/${name}`) };
  const stores = [
    new FollowedStore("namespaces", namespaces, active.reader, rows, ports.recorder),
    new FollowedStore(objectsName, objects, ofObjects, rows, ports.recorder),
  ];
  const find = (namespace: string): { readonly isRight: boolean } | undefined => stored.get(`${namespace}/${name}`);

  /** What somebody has written meanwhile is judged by the next pass. */
  async function putRight(namespace: string): Promise<Outcome> {
    if (!find(namespace)) {
      const object = wanted.create();
      return outcomeOf(await objects.write(createRequest({ ...object, metadata: { ...object.metadata, namespace, name } }, writer)));
    }
    const request = await mending(namespace);
    if (!request) return "none";
    const answer = await objects.write(request);
    // The object is gone: the next pass creates it.
    return !answer.ok && answer.status.code === 404 ? "later" : outcomeOf(answer);
  }

  /** undefined = the object is right by now. Throws when there is none any more. */
  async function mending(namespace: string): Promise<WriteRequest | undefined> {
    const [text] = await objects.objectsNamed([{ namespace, name }]);
    const object = text ? readObject<KubeObject>(text) : undefined;
    if (!object) throw new Error(`${namespace}/${name} cannot be read`);
    return wanted.isRight(object) ? undefined : updateRequest(wanted.mended(object), writer);
  }

  return new Frame<string>(ports, {
    rows,
    keeps: [active, stored],
    follows: () => stores,
    work: {
      plan: () => [...active.keys].filter((namespace) => find(namespace)?.isRight !== true),
      write: putRight,
      nameOf: (namespace) => namespace,
      atOnce: WRITTEN_AT_ONCE,
    },
  }).pass;
}
