package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.WorkerInterceptor;
import dev.kagzi.sdk.WorkflowContext;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The interceptors of a worker; the first wraps all others. */
public record InterceptorChain(List<WorkerInterceptor> interceptors) {
  public InterceptorChain {
    interceptors = List.copyOf(interceptors);
  }

  @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> code) throws Exception {
    Callable<@Nullable Object> next = code;
    for (WorkerInterceptor each : interceptors.reversed()) {
      Callable<@Nullable Object> inner = next;
      next = () -> each.run(ctx, inner);
    }
    return next.call();
  }

  @Nullable Object branch(WorkflowContext ctx, Callable<@Nullable Object> code) throws Exception {
    Callable<@Nullable Object> next = code;
    for (WorkerInterceptor each : interceptors.reversed()) {
      Callable<@Nullable Object> inner = next;
      next = () -> each.branch(ctx, inner);
    }
    return next.call();
  }

  @Nullable Object step(StepContext step, Callable<@Nullable Object> code) throws Exception {
    Callable<@Nullable Object> next = code;
    for (WorkerInterceptor each : interceptors.reversed()) {
      Callable<@Nullable Object> inner = next;
      next = () -> each.step(step, inner);
    }
    return next.call();
  }
}
