package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.value.WorkerId;

record ClaimedRun(WorkerId worker, Task task) {}
