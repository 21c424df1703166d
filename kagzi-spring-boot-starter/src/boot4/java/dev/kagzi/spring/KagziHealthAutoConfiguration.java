package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Adds the server and the workers to the application's health. */
@AutoConfiguration(after = KagziAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(KagziWorkers.class)
@ConditionalOnEnabledHealthIndicator("kagzi")
public class KagziHealthAutoConfiguration {
  /** Called by Spring. */
  public KagziHealthAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean(name = "kagziHealthIndicator")
  HealthIndicator kagziHealthIndicator(Kagzi kagzi, KagziWorkers workers) {
    return new KagziHealthIndicator(kagzi, workers);
  }
}
