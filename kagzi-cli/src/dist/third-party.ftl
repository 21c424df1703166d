<#-- Made from the dependency tree by the build. -->
The libraries in lib/kagzi.jar and their licences.

<#list dependencyMap as e>
<#assign artifact = e.getKey()/>
<#assign licenses = e.getValue()/>
<#if artifact.groupId != "dev.kagzi">
${artifact.groupId}:${artifact.artifactId}:${artifact.version}
    <#list licenses as license>${license}<#sep>; </#list>
    ${artifact.url!"-"}
</#if>
</#list>
