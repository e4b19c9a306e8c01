/** The same port with some methods replaced. */
export function overriding<T extends object>(port: T, methods: Partial<T>): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(property in methods ? methods : target, property);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
