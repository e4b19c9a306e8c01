/** Schema and statements of the node ports that Services hold. */
import type { NodePortStorage } from "../../src/addresses/node-ports/node-port-storage";

/** Services that were stored before there were rows get their rows. Where two Services have one port, it goes to the first by key. */
export const NODE_PORTS_SCHEMA = `
   CREATE TABLE node_ports (
     protocol TEXT NOT NULL,
     port INTEGER NOT NULL,
     key TEXT NOT NULL,
     PRIMARY KEY (protocol, port)
   ) STRICT, WITHOUT ROWID;
   INSERT OR IGNORE INTO node_ports (protocol, port, key)
     SELECT coalesce(json_extract(port.value, '$.protocol'), 'TCP'), json_extract(port.value, '$.nodePort'), objects.key
     FROM objects, json_each(objects.data, '$.spec.ports') AS port
     WHERE json_extract(objects.data, '$.spec.type') IN ('NodePort', 'LoadBalancer')
       AND json_extract(port.value, '$.nodePort') > 0
     ORDER BY objects.key;
   INSERT OR IGNORE INTO node_ports (protocol, port, key)
     SELECT 'TCP', json_extract(data, '$.spec.healthCheckNodePort'), key
     FROM objects
     WHERE json_extract(data, '$.spec.type') = 'LoadBalancer'
       AND json_extract(data, '$.spec.externalTrafficPolicy') = 'Local'
       AND json_extract(data, '$.spec.healthCheckNodePort') > 0
     ORDER BY key;`;

/** The NodePortStorage port on a Durable Object's SQLite. */
export function sqlNodePortStorage({ sql }: DurableObjectStorage): NodePortStorage {
  return {
    nodePortAdd({ protocol, port }, key) {
      sql.exec("INSERT INTO node_ports (protocol, port, key) VALUES (?, ?, ?)", protocol, port, key);
    },
    nodePortHolder({ protocol, port }) {
      const query = "SELECT key FROM node_ports WHERE protocol = ? AND port = ?";
      return sql.exec<{ key: string }>(query, protocol, port).toArray()[0]?.key;
    },
    nodePortDelete({ protocol, port }, key) {
      sql.exec("DELETE FROM node_ports WHERE protocol = ? AND port = ? AND key = ?", protocol, port, key);
    },
    nodePortsOf(protocol) {
      const rows = sql.exec<{ port: number }>("SELECT port FROM node_ports WHERE protocol = ?", protocol).toArray();
      return rows.map(({ port }) => port);
    },
    nodePortsAfter({ protocol, port }, limit) {
      const query = "SELECT protocol, port, key FROM node_ports WHERE (protocol, port) > (?, ?) ORDER BY protocol, port LIMIT ?";
      return sql.exec<{ protocol: string; port: number; key: string }>(query, protocol, port, limit).toArray();
    },
  };
}
