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

  private interface Layer {
    @Nullable Object call(WorkerInterceptor interceptor, Callable<@Nullable Object> inner)
        throws Exception;
  }

  @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> code) throws Exception {
    return call(code, (interceptor, inner) -> interceptor.run(ctx, inner));
  }

  @Nullable Object branch(WorkflowContext ctx, Callable<@Nullable Object> code) throws Exception {
    return call(code, (interceptor, inner) -> interceptor.branch(ctx, inner));
  }

  @Nullable Object step(StepContext step, Callable<@Nullable Object> code) throws Exception {
    return call(code, (interceptor, inner) -> interceptor.step(step, inner));
  }

  private @Nullable Object call(Callable<@Nullable Object> code, Layer layer) throws Exception {
    Callable<@Nullable Object> next = code;
    for (WorkerInterceptor each : interceptors.reversed()) {
      Callable<@Nullable Object> inner = next;
      next = () -> layer.call(each, inner);
    }
    return next.call();
  }
}
