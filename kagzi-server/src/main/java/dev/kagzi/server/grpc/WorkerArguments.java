package dev.kagzi.server.grpc;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import dev.kagzi.engine.worker.WorkerRegistration;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class WorkerArguments {
  /** Leaves room for the deltas of later heartbeats: their sum must fit into a bigint. */
  private static final long TOTAL_MAX = 1_000_000_000_000_000L;

  private static final int TYPES_MAX = 1_000;

  private WorkerArguments() {}

  static WorkerRegistration registration(RegisterRequest request) {
    checkCount("workflow_types", request.getWorkflowTypesCount());
    checkCount("served", request.getServedCount());
    checkCount("workflow_type_concurrency", request.getWorkflowTypeConcurrencyCount());
    boolean anyVersion = request.getServedCount() == 0;
    return new WorkerRegistration(
        new QueueName(Arguments.namespace(request.getNamespace()), request.getTaskQueue()),
        anyVersion ? anyVersionOf(request.getWorkflowTypesList()) : served(request),
        anyVersion,
        request.getHostname(),
        request.getPid(),
        request.getVersion(),
        request.getLabelsMap(),
        concurrencyLimit(request),
        typeLimits(request),
        request.getInstanceId());
  }

  // As many as a poll may ask for. The checks below compare each type with each other one.
  private static void checkCount(String field, int count) {
    if (count > TYPES_MAX) {
      throw Refusal.invalid(field, count + " entries", "at most " + TYPES_MAX);
    }
  }

  private static List<TypeVersion> anyVersionOf(List<String> types) {
    return types.stream().map(type -> new TypeVersion(type, PollRequest.ANY_VERSION)).toList();
  }

  // A type that workflow_types names but served does not would be accepted and never polled.
  private static List<TypeVersion> served(RegisterRequest request) {
    List<TypeVersion> served =
        request.getServedList().stream()
            .map(type -> new TypeVersion(type.getWorkflowType(), type.getVersion()))
            .toList();
    for (String type : request.getWorkflowTypesList()) {
      if (served.stream().noneMatch(one -> one.type().equals(type))) {
        throw Refusal.invalid("workflow_types", type, "a type that served names too");
      }
    }
    return served;
  }

  private static @Nullable Integer concurrencyLimit(RegisterRequest request) {
    return request.hasQueueConcurrencyLimit()
        ? Arguments.positive("queue_concurrency_limit", request.getQueueConcurrencyLimit())
        : null;
  }

  private static Map<String, Integer> typeLimits(RegisterRequest request) {
    Map<String, Integer> limits = new HashMap<>();
    for (WorkflowTypeConcurrency limit : request.getWorkflowTypeConcurrencyList()) {
      int max =
          Arguments.positive("workflow_type_concurrency.max_concurrent", limit.getMaxConcurrent());
      if (limits.put(limit.getWorkflowType(), max) != null) {
        throw Refusal.invalid(
            "workflow_type_concurrency", limit.getWorkflowType(), "each type once");
      }
    }
    return limits;
  }

  /**
   * If a client counts or lists its claims, only the listed claims are renewed. If it does neither,
   * all its claims are renewed.
   */
  static WorkerHeartbeat heartbeat(HeartbeatRequest request) {
    boolean listed = request.hasActiveCount() || request.getClaimsCount() > 0;
    return new WorkerHeartbeat(
        Arguments.workerId(request.getWorkerId()),
        listed ? claims(request) : null,
        request.hasActiveCount()
            ? (int) Arguments.notNegative("active_count", request.getActiveCount())
            : null,
        delta("completed_delta", request.getCompletedDelta()),
        delta("failed_delta", request.getFailedDelta()),
        Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
        total("total_completed", request.getTotalCompleted()),
        total("total_failed", request.getTotalFailed()));
  }

  private static List<Claim> claims(HeartbeatRequest request) {
    List<Claim> claims = new ArrayList<>(request.getClaimsCount());
    request.getClaimsList().forEach(claim -> claims.add(Arguments.claim(claim)));
    return claims;
  }

  private static int delta(String field, long value) {
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw Refusal.invalid(field, value, "0 to " + Integer.MAX_VALUE);
    }
    return (int) value;
  }

  private static long total(String field, long value) {
    if (value < 0 || value > TOTAL_MAX) {
      throw Refusal.invalid(field, value, "0 to " + TOTAL_MAX);
    }
    return value;
  }

  static Duration sleepLength(SleepRequest request) {
    if (!request.hasDuration()) {
      throw Refusal.invalid("duration", "none", "how long to sleep");
    }
    return Arguments.duration("duration", request.getDuration());
  }
}
