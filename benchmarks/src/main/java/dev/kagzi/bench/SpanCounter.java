package dev.kagzi.bench;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.concurrent.atomic.LongAdder;

/** Counts the sampled spans that have ended. Thread-safe. */
final class SpanCounter implements SpanProcessor {
  private final LongAdder ended = new LongAdder();

  long sum() {
    return ended.sum();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {}

  @Override
  public boolean isStartRequired() {
    return false;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (span.getSpanContext().isSampled()) {
      ended.increment();
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }
}
