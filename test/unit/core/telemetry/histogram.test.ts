import { describe, expect, it } from "vitest";
import { Histogram } from "../../../../src/core/telemetry/histogram";
import { metricsText } from "../../../../src/core/telemetry/metrics";
import { parsePrometheus } from "../../../support/values/prometheus";

describe("Histogram", () => {
  it("observations: counted into inclusive buckets, printed cumulatively with sum and count", () => {
    const bounds = [0.1, 1, 10];
    const histogram = new Histogram(bounds);
    for (const value of [0, 0.1, 0.2, 1, 10, 11, 500]) histogram.observe(value);
    expect(histogram.value.counts).toEqual([2, 2, 1, 2]);
    const samples = [{ labels: { cidr: "a" }, value: histogram.value }];
    const text = metricsText([{ name: "seconds", type: "histogram", help: "How long.", bounds, samples }]);
    expect(text).toBe(
      "# HELP seconds How long.\n# TYPE seconds histogram\n" +
        'seconds_bucket{cidr="a",le="0.1"} 2\nseconds_bucket{cidr="a",le="1"} 4\nseconds_bucket{cidr="a",le="10"} 5\n' +
        'seconds_bucket{cidr="a",le="+Inf"} 7\nseconds_sum{cidr="a"} 522.3\nseconds_count{cidr="a"} 7\n',
    );
    expect(parsePrometheus(text).get("seconds")?.samples.length).toBe(6);
  });
});

describe("the reader of metrics in tests", () => {
  const head = "# HELP a b\n# TYPE a counter\n";
  it.each([
    "a 1\n",
    `${head}a 1`,
    `${head}a -1\n`,
    `${head}a{x=1} 1\n`,
    `${head}a{x="1"y="2"} 1\n`,
    `${head}a{x="1",} 1\n`,
    `${head}a{x="\\t"} 1\n`,
    `${head}a 1\na 2\n`,
    `${head}b 1\n`,
    `${head}a one\n`,
    `${head}${head}`,
    "# HELP a b\n",
    '# HELP a b\n# TYPE a histogram\na_bucket{le="1"} 2\na_sum 3\na_count 2\n',
    '# HELP a b\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 3\na_count 1\n',
  ])("%j: refused", (text) => {
    expect(() => parsePrometheus(text)).toThrow();
  });
});
