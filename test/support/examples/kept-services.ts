interface Ref {
  namespace: string;
  name: string;
  family: string;
}
export type Service = Ref & { ports: { port: number; cluster?: string[] }[] };
const keyOf = ({ namespace, name, family }: Ref) => `${namespace}/${name}/${family}`;

/** Keeps in `services` what the page at `url` says, until `signal` aborts. */
export async function keepServices(url: string, services: Map<string, Service>, signal: AbortSignal): Promise<void> {
  let etag = "";
  while (!signal.aborted) {
    try {
      const response = await fetch(`${url}?timeoutSeconds=60`, { headers: { "If-None-Match": etag }, signal });
      if (!response.ok && response.status !== 304) throw new Error(await response.text());
      etag = response.headers.get("ETag") ?? "";
      if (response.status === 304) continue;
      const page = (await response.json()) as { isFull: boolean; services: Service[]; removed: Ref[] };
      if (page.isFull) services.clear();
      for (const service of page.services) services.set(keyOf(service), service);
      for (const service of page.removed) services.delete(keyOf(service));
    } catch (error) {
      if (signal.aborted) return;
      console.error(`services: ${String(error)}`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
