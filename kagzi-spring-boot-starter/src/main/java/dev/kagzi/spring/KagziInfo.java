package dev.kagzi.spring;

import java.util.Map;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Shows at {@code /actuator/info} which workflows the application serves. */
record KagziInfo(KagziProperties properties, KagziWorkers workers) implements InfoContributor {

  @Override
  public void contribute(Info.Builder builder) {
    builder.withDetail(
        "kagzi", Map.of("namespace", properties.namespace(), "workflows", workers.types()));
  }
}
