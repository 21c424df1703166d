package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;

/** A bean that sets options of the application's client before it connects. */
@FunctionalInterface
public interface KagziBuilderCustomizer {
  /** Sets options. */
  void customize(Kagzi.Builder builder);
}
