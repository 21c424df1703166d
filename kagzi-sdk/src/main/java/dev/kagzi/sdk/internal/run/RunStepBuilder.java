package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.StepCode;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A step with options. */
final class RunStepBuilder implements StepBuilder {
  private final RunContext context;
  private final String name;
  private StepOptions options = StepOptions.NONE;

  RunStepBuilder(RunContext context, String name) {
    this.context = context;
    this.name = name;
  }

  @Override
  public StepBuilder retry(Retry retry) {
    options = options.withRetry(Objects.requireNonNull(retry, "retry"));
    return this;
  }

  @Override
  public StepBuilder timeout(Duration timeout) {
    options = options.withTimeoutMs(ProtoMapper.timeoutMs("timeout", timeout));
    return this;
  }

  @Override
  public StepBuilder input(@Nullable Object input) {
    Payloads payloads = context.payloads();
    options =
        options.withInput(
            new StepInput(
                payloads.encodeAny(input),
                payloads.fingerprint(input),
                hash -> payloads.hasFingerprint(input, hash)));
    return this;
  }

  @Override
  public <T> T execute(Class<T> type, StepCode<? extends T> code) {
    return context.stepCalls().execute(name, options, type, code);
  }

  @Override
  public <T> T execute(TypeRef<T> type, StepCode<? extends T> code) {
    return context.stepCalls().execute(name, options, type.type(), code);
  }

  @Override
  public <T> T run(Class<T> type, Callable<? extends T> code) {
    return context.stepCalls().execute(name, options, type, step -> code.call());
  }

  @Override
  public <T> T run(TypeRef<T> type, Callable<? extends T> code) {
    return context.stepCalls().execute(name, options, type.type(), step -> code.call());
  }

  @Override
  public void run(StepAction code) {
    context.stepCalls().executeAction(name, options, code);
  }

  @Override
  public <T> T transaction(
      Transactions transactions, Class<T> type, TransactionCode<? extends T> code) {
    return context.stepCalls().transaction(name, options, transactions, type, code);
  }

  @Override
  public <T> T transaction(
      Transactions transactions, TypeRef<T> type, TransactionCode<? extends T> code) {
    return context.stepCalls().transaction(name, options, transactions, type.type(), code);
  }
}
