import { describe, expect, it } from "vitest";
import { metricsText } from "../../../../src/core/telemetry/metrics";

describe("metricsText", () => {
  it("a family: printed with help, type and samples", () => {
    const text = metricsText([
      { name: "a_total", type: "counter", help: "How many.", samples: [{ labels: { store: "services" }, value: 3 }] },
      { name: "b", type: "gauge", help: "None yet.", samples: [] },
      { name: "c", type: "gauge", help: "Bare.", samples: [{ labels: {}, value: 0 }] },
    ]);
    expect(text).toBe(
      '# HELP a_total How many.\n# TYPE a_total counter\na_total{store="services"} 3\n' +
        "# HELP b None yet.\n# TYPE b gauge\n# HELP c Bare.\n# TYPE c gauge\nc 0\n",
    );
  });

  it("special characters: escaped", () => {
    const text = metricsText([{ name: "a", type: "gauge", help: "back\\slash\nline", samples: [{ labels: { l: 'q"\\\n' }, value: 1 }] }]);
    expect(text).toBe('# HELP a back\\\\slash\\nline\n# TYPE a gauge\na{l="q\\"\\\\\\n"} 1\n');
  });
});
