// Yaml prints documents in YAML and what Go makes of them: a line for each, with the document in JSON, and with its value in JSON
// or with the error. Where a key stands twice, the text of the strict decoder follows. The random scalars are the same in each run.
//
//	cd scripts/dev/upstream/yaml && go run . > ../../../test/fixtures/upstream/yaml-1.36.tsv
//
// `go run . N SEED` prints N random scalars instead, from that seed.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// randomScalars is how many random scalars the table has.
const randomScalars = 400

// words are the plain scalars whose rules differ between YAML 1.1, YAML 1.2 and Go.
var words = strings.Split(`y Y n N yes Yes YES yEs no No NO nO on On ON oN off Off OFF oFF true True TRUE tRUE false False FALSE fALSE
~ ~~ null Null NULL nULL nil none - -- --- . .. ... + +- _ _1 -_1 +_1 -_ 1_ 1__0 1_000 1_000.5 1_0e1_0 0_8 0_x1
.inf .Inf .INF .iNF +.inf +.Inf +.INF -.inf -.Inf -.INF ..inf .nan .NaN .NAN .Nan +.nan -.nan inf Inf +inf -Inf infinity +Infinity nan NaN +NaN
e0 E5 .e1 .E5 +e1 -e1 +.e1 e e+1 .e+1 1e 1e+ 1e- 1e3 1E3 1e+3 1e-3 1.e3 1.5e3 .5 .5e1 -.5 +.5 +.5e-1 1. -1. +1. 1.. 1.2.3 .5.
.5_0 ._5 5._ 1.5_0 1e3_0 1e400 -1e400 1e-400 .1e400 0e0 0x1p3 0x1p-2 0x.8p1 0x1.8 1e308 1.7976931348623159e308 4.9e-324 1e21 1e20 1e6 1e-7
0 00 000 01 07 08 09 010 018 08.5 010.5 +010 -010 +08 -08 0o10 0O10 -0o10 +0o17 0o8 0o 0O 0x 0X 0x1F 0X1f -0x1F +0xff 0xg 0x_1f 0x1_f
0b 0B 0b11 0B11 -0b11 +0b11 0b12 0b_1 0b1_0 -0B11 -0b2 0_b1 -0 +0 -0.0 0.0 0.10 +1 -1 ++1 --1 +-1 1-1 1+1 1,000 1a a1 #1
9007199254740991 9007199254740993 -9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
18446744073709551615 18446744073709551616 -18446744073709551616 +18446744073709551615 123456789012345678901234567890
0x7fffffffffffffff 0x8000000000000000 0xffffffffffffffff 0x10000000000000000 -0x8000000000000000 -0x8000000000000001
01777777777777777777777 02000000000000000000000 -01000000000000000000000 -01000000000000000000001 0o1777777777777777777777 0o2000000000000000000000
0b1111111111111111111111111111111111111111111111111111111111111111 0b11111111111111111111111111111111111111111111111111111111111111111
1:30 1:30:00 190:20:30 1:30.5 -1:30 01:59 1:60 10.96.0.0 10.96.0.0/12 fd00::1 ::1 80/TCP 1.36 v1 1Gi 100m 50% 1e 12e3 12e3Mi
2024-01-01 2024-1-1 2024-13-01 2024-01-01T00:00:00Z 2024-01-01t00:00:00Z 2024-01-01T00:00:00.123456789Z 2024-01-01T00:00:00+01:00 2024-01
<< < = * & ! @ %a | > ? , [ { ] } " ' \ ~null null~ "" '' "1" 'yes' "~" "<<" '1e3' "\x41" 'it''s'`, " ")

// documents are those where not the scalar alone decides: tags, keys, merge keys, aliases.
var documents = []string{
	"", "\n", "# nothing\n", "---\n", "a:\n", "a: # nothing\n", "- \n", "a", "1", "a: |\n  1\n", "a: >-\n  yes\n", "a: 1 2\n", "a: 2024-01-01 00:00:00\n",
	"a: 2024-01-01 00:00:00 Z\n", "a: \u00a01\n", "a: \u0661\n", "a: ünï\n",
	`a: !!int 3`, `a: !!int "3"`, `a: !!int x`, `a: !!int 1.5`, `a: !!int 0b11`, `a: !!int "010"`, `a: !!int 0o10`, `a: !!int 1e3`, `a: !!int 9223372036854775808`, `a: !!int`,
	`a: !!float 3`, `a: !!float 1.5`, `a: !!float "1e3"`, `a: !!float e0`, `a: !!float x`, `a: !!float 18446744073709551615`, `a: !!float .inf`,
	`a: !!bool yes`, `a: !!bool "yes"`, `a: !!bool 1`, `a: !!null ~`, `a: !!null ""`, `a: !!null`, `a: !!null x`,
	`a: !!str 3`, `a: !!str yes`, `a: !!str ~`, `a: !!str`, `a: !!str 2024-01-01`, `a: !!timestamp 2024-01-01`, `a: !!timestamp "2024-01-01"`, `a: !!timestamp x`,
	`a: !!binary aGk=`, `a: !!binary "aGk="`, `a: !!binary a`, `a: !!binary /w==`, `a: !!binary`, "a: !!binary |\n  aG\n  k=\n",
	`a: ! 3`, `a: ! yes`, `a: !x 3`, `a: !x yes`, `a: !!x 3`, `a: !!merge <<`, `a: !!value =`, `a: !<tag:yaml.org,2002:int> 3`, `a: !<tag:yaml.org,2002:str> 3`, `a: !!map 3`, `a: !!seq 3`,
	`a: !!set {x, y}`, `a: !!omap [x: 1, y: 2]`, `a: !!pairs [x: 1, x: 2]`, `a: !!map {x: 1}`, `a: !!seq [1]`, `a: !x {y: 1}`, `a: !x [1]`, `a: !!str {x: 1}`, `a: !!int [1]`,
	`on: 1`, `off: 1`, `y: 1`, `010: 1`, `0x1F: 1`, `-1: 1`, `-0: 1`, `1.5: 1`, `1.1: 1`, `0.1: 1`, `1e3: 1`, `1e6: 1`, `123456.0: 1`, `1234567.0: 1`, `16777217.0: 1`, `1e20: 1`, `1e21: 1`, `1e-4: 1`, `1e-5: 1`, `1e-7: 1`, `123456789.0: 1`, `1e300: 1`, `-1e300: 1`, `1e-50: 1`, `0.0: 1`, `-0.0: 1`, `3.4028236e38: 1`, `1.17549435e-38: 1`, `1e-45: 1`, `0.3: 1`, `100000.0: 1`, `12345.678: 1`, `.5: 1`,
	`9007199254740993: 1`, `9223372036854775807: 1`, `9223372036854775808: 1`, `18446744073709551616: 1`, `.inf: 1`, `-.inf: 1`, `.nan: 1`, `e0: 1`, `2024-01-01: 1`, `1:30: 1`,
	`~: 1`, `null: 1`, `: 1`, `"": 1`, `? `, `!!null x: 1`, `!!str 1: 1`, `!!int "1": 1`, `!!binary aGk=: 1`, `[1]: 1`, `{a: 1}: 1`, "? [1]\n: 1\n", `!x 1: 2`, `"1": 1`, `'yes': 1`, `"<<": 1`, `'<<': {a: 1}`,
	"a: &x 1.5\n*x : 1\n", "a: &x 010\n*x : 1\n", "&x 010: *x\n", "a: &x [1]\n*x : 1\n", "&x yes: *x\n", "a: &x ~\n*x : 1\n",
	"1: a\n\"1\": a\n", "a: 1\na: 2\n", "yes: 1\ntrue: 2\n", "010: 1\n8: 2\n", "__proto__: 1\n", "constructor: 1\n", "a: {__proto__: {b: 1}}\n", "0.5: 1\n.5: 2\n",
	"<<: {a: 1}\n", "<<: {a: 1}\na: 2\n", "a: 2\n<<: {a: 1}\n", "<<: [{a: 1}, {a: 2, b: 3}]\n", "a: 0\n<<: [{a: 1}, {a: 2, b: 3}]\n", "<<: {a: 1}\n<<: {a: 2, b: 1}\n", "x: &x {a: 1}\n<<: *x\n", "x: &x {a: 1}\ny: {a: 2, <<: *x}\n", "x: &x {a: 1}\ny: {<<: [*x, {b: 2}]}\n",
	"<<: 1\n", "<<: x\n", "<<: ~\n", "<<:\n", "<<: [1]\n", "<<: []\n", "<<: [[]]\n", "<<: [{a: 1}, 1]\n", "<<: {}\n", "x: &x [1]\n<<: *x\n", "x: &x [{a: 1}]\n<<: *x\n", "x: &x 1\n<<: *x\n", "x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, c: 3}\n", "<<: {010: 1}\n8: 2\n", "<<: {~: 1}\n",
	"!!merge <<: {a: 1}\n", "!!merge x: {a: 1}\n", "!!str <<: {a: 1}\n", "! <<: {a: 1}\n", "- <<\n", "a: {<<: {__proto__: 1}}\n", "&x <<: {a: 1}\n",
	"a: &x\nb: *x\n", "a: &x yes\nb: *x\n", "a: &x 1\nb: &x 2\nc: *x\n", "a: *x\n", "a: &x !!str 1\nb: *x\n", "a: !!str &x 1\nb: *x\n",
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	count, seed := randomScalars, int64(1)
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[1])
		seed, _ = strconv.ParseInt(os.Args[2], 10, 64)
	} else {
		fmt.Fprintln(out, "# Documents as sigs.k8s.io/yaml v1.6.0 reads them: scripts/dev/upstream/yaml prints the file. Regenerate it; do not edit it.")
		for _, word := range words {
			for _, plain := range strings.Fields(word) {
				write(out, "a: "+plain+"\n")
			}
		}
		for _, document := range documents {
			write(out, document)
		}
	}
	random := rand.New(rand.NewSource(seed))
	known := map[string]bool{}
	for len(known) < count {
		text := scalar(random)
		if !known[text] {
			write(out, "a: "+text+"\n")
		}
		known[text] = true
	}
}

// scalar is a random one of characters that numbers have, at times put together from parts of numbers.
func scalar(random *rand.Rand) string {
	parts := [][]string{
		strings.Split("0123456789_+-.eExXoObB", ""),
		{"0x", "0b", "0o", "0", "1", "8", "12", "_", ".", "e", "E", "+", "-", "e1", "e-2", ".5", "9223372036854775807", "ff"},
	}[random.Intn(2)]
	var text strings.Builder
	for range 1 + random.Intn(6) {
		text.WriteString(parts[random.Intn(len(parts))])
	}
	return text.String()
}

func write(out *bufio.Writer, document string) {
	value, err := yaml.YAMLToJSON([]byte(document))
	result := string(value)
	if err != nil {
		result = "error: " + err.Error()
	} else if _, err := yaml.YAMLToJSONStrict([]byte(document)); err != nil {
		result += "\trepeated: " + err.Error()
	}
	fmt.Fprintf(out, "%s\t%s\n", quoted(document), strings.ReplaceAll(result, "\n", " "))
}

func quoted(text string) string {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(buffer.String(), "\n")
}
