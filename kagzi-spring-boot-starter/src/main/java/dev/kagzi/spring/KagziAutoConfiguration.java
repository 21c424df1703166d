package dev.kagzi.spring;

import dev.kagzi.sdk.ClientInterceptor;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.PayloadCodec;
import dev.kagzi.sdk.WorkerInterceptor;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Creates the client and its workers, with their metrics, traces and info endpoint.
 *
 * <p>The SDK's default codec encodes payloads, unless there is a {@link PayloadCodec} bean. The
 * JSON mapper of the application is not used: a change of its web API must not make open runs
 * unreadable.
 */
@AutoConfiguration
@EnableConfigurationProperties(KagziProperties.class)
public class KagziAutoConfiguration {
  /** Called by Spring. */
  public KagziAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  KagziConnector kagziConnector(KagziProperties properties) {
    return new PropertiesConnector(properties);
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Kagzi kagzi(
      KagziConnector connector,
      KagziProperties properties,
      ObjectProvider<PayloadCodec> codec,
      ObjectProvider<ClientInterceptor> clientInterceptors,
      ObjectProvider<WorkerInterceptor> workerInterceptors,
      ObjectProvider<KagziBuilderCustomizer> customizers) {
    Kagzi.Builder builder =
        Kagzi.builder()
            .callTimeout(properties.callTimeout())
            .tracesPerSecondMax(properties.tracesPerSecondMax());
    // Not the SDK's shared codec: it caches classes of the application, and devtools could not
    // unload them after a restart.
    builder.codec(codec.getIfUnique(JacksonCodec::new));
    clientInterceptors.orderedStream().forEach(builder::interceptor);
    workerInterceptors.orderedStream().forEach(builder::workerInterceptor);
    customizers.orderedStream().forEach(each -> each.customize(builder));
    return connector.connect(builder);
  }

  @Bean
  KagziWorkers kagziWorkers(
      Kagzi kagzi,
      KagziProperties properties,
      ObjectProvider<WorkflowDefinition<?, ?>> definitions,
      ObjectProvider<KagziWorkerCustomizer> customizers) {
    return new KagziWorkers(
        kagzi,
        properties,
        definitions.orderedStream().toList(),
        customizers.orderedStream().toList());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class Metrics {
    @Bean
    KagziBuilderCustomizer kagziMetrics(ObjectProvider<MeterRegistry> registry) {
      return builder -> registry.ifUnique(builder::meterRegistry);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(OpenTelemetry.class)
  static class Traces {
    @Bean
    KagziBuilderCustomizer kagziTraces(ObjectProvider<OpenTelemetry> openTelemetry) {
      return builder -> openTelemetry.ifUnique(builder::openTelemetry);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(InfoContributor.class)
  static class InfoEndpoint {
    @Bean
    @ConditionalOnMissingBean(name = "kagziInfoContributor")
    InfoContributor kagziInfoContributor(KagziProperties properties, KagziWorkers workers) {
      return new KagziInfo(properties, workers);
    }
  }
}
