/** A cluster's record in memory; a transaction that throws changes nothing. */
import type {
  BeginningRow,
  ClusterObject,
  ControllersRow,
  EndedObject,
  QuotasRow,
  RecordRow,
  RecordStorage,
} from "../../../src/tenancy/record-storage";

export function memoryRecordStorage(): RecordStorage {
  let row: RecordRow | undefined;
  let controllers: ControllersRow | undefined;
  let beginning: BeginningRow | undefined;
  let quotas: QuotasRow | undefined;
  let ended: readonly EndedObject[] | undefined;
  let stamp: string | undefined;
  let life = "";
  let objects: (ClusterObject & { wiped: boolean })[] = [];
  return {
    transaction(work) {
      const before = [row, controllers, beginning, quotas, ended, life, stamp, objects.map((object) => ({ ...object }))] as [
        typeof row,
        typeof controllers,
        typeof beginning,
        typeof quotas,
        typeof ended,
        string,
        typeof stamp,
        typeof objects,
      ];
      try {
        return work();
      } catch (error) {
        [row, controllers, beginning, quotas, ended, life, stamp, objects] = before;
        throw error;
      }
    },
    load: () => row,
    save: (saved) => (row = saved),
    controllersLoad: () => controllers,
    controllersSave: (saved) => (controllers = saved),
    quotasLoad: () => quotas,
    quotasSave: (saved) => (quotas = saved),
    endedLoad: () => ended,
    endedSave: (saved) => (ended = saved),
    beginningLoad: () => beginning,
    beginningSave: (saved) => (beginning = saved),
    stamp: () => stamp,
    noteStamp: (noted) => void (stamp = noted),
    notedLife: () => life,
    noteLife: (id) => void (life = id),
    objectsAdd(added) {
      for (const { kind, name } of added) {
        if (!objects.some((object) => object.kind === kind && object.name === name)) objects.push({ kind, name, wiped: false });
      }
    },
    objectWiped({ kind, name }) {
      for (const object of objects) if (object.kind === kind && object.name === name) object.wiped = true;
    },
    objectsLeft(limit) {
      const left = objects.filter(({ wiped }) => !wiped).slice(0, limit);
      return left.map(({ kind, name }) => ({ kind, name }));
    },
    objectsNamed: (kind) => objects.filter((object) => object.kind === kind).map(({ name }) => name),
    objectCounts: () => ({ objects: objects.length, wiped: objects.filter(({ wiped }) => wiped).length }),
    objectsClear: () => (objects = []),
  };
}
