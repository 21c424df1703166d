package dev.kagzi.sdk.internal.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Samples the second trace, the fourth, and so on. */
final class EveryOther implements Sampler {
  private final AtomicInteger traces = new AtomicInteger();

  @Override
  public SamplingResult shouldSample(
      Context parent,
      String traceId,
      String name,
      SpanKind kind,
      Attributes attributes,
      List<LinkData> links) {
    return traces.incrementAndGet() % 2 == 0
        ? SamplingResult.recordAndSample()
        : SamplingResult.drop();
  }

  @Override
  public String getDescription() {
    return "EveryOther";
  }
}
