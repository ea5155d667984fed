// Loaded by the processes that tests start: V8 optimizes a function after ten times as much work as usual.
// Most of these processes live for a second, in which optimizing costs more than it saves (decision 045).
require('node:v8').setFlagsFromString('--interrupt-budget=1320000');
