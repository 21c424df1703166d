package dev.kagzi.engine.query;

import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;

public record WorkerEvent(
    long eventId, WorkerId workerId, String event, String reason, Instant at) {}
