package dev.kagzi.sdk;

import java.time.Instant;

/** A change of a worker's status: its new status, why, and when. */
public record WorkerEvent(WorkerInfo.Status status, String reason, Instant at) {}
