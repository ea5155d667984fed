// Which lines of a page say nothing but a moment or a number of readers, in the languages that pages are mostly written in.
// Promise: constant time per line (long lines are sentences); a line with any other word, a currency or a percentage stays.

/** A longer line is a sentence. */
const MAX_LINE = 80;

/** Words that stand beside the number in a counter: what readers do with a page. */
const COUNTED =
  words(`view views viewed read reads comment comments reply replies response responses share shares shared like
  likes liked vote votes upvote upvotes follower followers following subscriber subscribers download downloads visitor
  visitors visit visits hits online users members guests watching watchers reaction reactions retweet retweets tweet tweets
  repost reposts clap claps bookmark bookmarks favourites favorites saves reader readers people viewer viewers
  kommentar kommentare kommentaren aufruf aufrufe abrufe klicks mal gelesen antwort antworten gefällt leser besucher zugriffe
  vue vues commentaire commentaires partage partages lu lecture lectures fois réponse réponses avis abonnés visiteurs
  comentario comentarios visita visitas visto veces lectura lecturas vistas compartido compartir compartidos respuestas
  seguidores visualización visualizaciones leído me gusta
  commento commenti visualizzazione visualizzazioni letture condivisioni condivisione risposte lettori volte
  comentário comentários visualização visualizações visualizacoes leituras acessos curtidas compartilhamentos vezes lido
  reactie reacties keer bekeken gelezen weergaven bezoekers lezers
  просмотр просмотра просмотров просмотры комментарий комментария комментариев комментарии ответ ответа ответов
  прочитали прочтений читателей подписчиков лайков репостов раз перегляд переглядів перегляди коментар коментарів коментарі
  wyświetleń wyświetlenia odsłon odsłony komentarz komentarze komentarzy czytań udostępnień razy
  görüntülenme görüntüleme okunma yorum yorumlar kez kişi beğeni
  visning visningar visninger kommentarer läsningar delningar delinger svar gånger ganger
  katselukertaa kommenttia jakoa lukukertaa zobrazení komentářů komentáře přečteno krát megtekintés hozzászólás vizualizări
  comentarii προβολές σχόλια σχόλιο αναγνώσεις
  مشاهدة مشاهدات المشاهدات تعليق تعليقات التعليقات قراءة زيارة בתגובות תגובות צפיות
  阅读 阅读量 阅读数 閱讀 浏览 浏览量 浏览数 浏览次数 瀏覽 瀏覽次數 点击 点击量 点击数 点击次数 评论 评论数 評論 留言 回复 回覆 点赞 赞 收藏 转发 分享 次
  次浏览 次阅读 次播放 人阅读 条评论 条回复 條留言 人气 人氣 观看 播放 播放量
  閲覧 閲覧数 アクセス アクセス数 コメント 件 件のコメント 回 回視聴 再生 いいね シェア ブックマーク 人 ビュー
  조회 조회수 댓글 개 명 추천 공유 읽음 lượt xem bình luận ครั้ง`);

/** Words around a moment, besides the names of months, days and spans, which the runtime knows. */
const DATED =
  words(`am pm a p m at on in of the by from since as updated update published publish posted post last modified changed
  edited revised reviewed created added date time today yesterday now just ago first latest
  gmt utc est edt cst cdt mst mdt pst pdt et ct pt cet cest mez mesz bst ist jst kst msk st nd rd th
  um uhr am vom der den zuletzt letzte letztes aktualisiert aktualisierung update geändert änderung bearbeitet veröffentlicht
  veröffentlichung erschienen stand datum erstellt heute gestern vor seit
  le la les à au du de mis mise jour publié publiée modifié modifiée dernière mise créé posté date heure hier aujourd hui il y
  el a las los del actualizado actualizada última actualización publicado publicada modificado fecha hora hoy ayer hace creado
  il alle ore aggiornato aggiornata ultimo ultima aggiornamento modifica pubblicato pubblicata data oggi ieri fa
  em às as atualizado atualizada atualização última modificado publicado hoje ontem há
  op om bijgewerkt laatst gewijzigd gepubliceerd geplaatst datum vandaag gisteren geleden
  в на обновлено обновлён обновлен опубликовано опубликован изменено изменён размещено дата время сегодня вчера назад г год года
  последнее обновление последние изменения оновлено опубліковано сьогодні вчора тому р
  o dnia aktualizacja zaktualizowano ostatnia opublikowano dodano data dziś wczoraj temu godz r
  güncelleme güncellendi son tarih tarihi yayınlanma yayınlandı saat bugün dün önce
  uppdaterad publicerad senast ändrad kl klockan idag igår sedan opdateret publiceret sidst den oppdatert publisert sist endret
  päivitetty julkaistu klo tänään eilen sitten aktualizováno publikováno naposledy dnes včera frissítve közzétéve ma tegnap
  actualizat publicat astăzi ieri ενημερώθηκε δημοσιεύθηκε σήμερα χθες
  تحديث آخر نشر في بتاريخ اليوم أمس منذ م ص עודכן פורסם היום אתמול
  年 月 日 时 時 分 秒 号 更新 更新于 更新於 更新时间 更新時間 更新日 更新日時 最后更新 最後更新 最終更新 最終更新日 最近更新 发布 发布于 发布时间 發布 發表 发表于 发表时间 發佈 公開 公開日 投稿
  投稿日 掲載 掲載日 作成日 编辑于 编辑 时间 日期 今天 昨天 刚刚 今日 昨日 星期 周 上午 下午 午前 午後 前 以前
  년 월 일 시 분 초 오전 오후 업데이트 수정 최종 최종수정 입력 등록 작성일 게시 전 어제 오늘 cập nhật lúc ngày tháng năm`);

/** Large counters are written short. */
const MULTIPLES = words('k m mn mio mrd tsd mil mln tys tis тыс млн тис 万 萬 亿 億 千 만 천 b');

/** Months, days of the week and how long ago, as the runtime writes them in these languages. */
const LOCALES =
  'ar bg cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi zh'.split(
    ' ',
  );
const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const;
let written: ReadonlySet<string> | undefined;

const BETWEEN = /[\s,;:/|·•()[\]{}–—\-.'’"“”«»!?*_#…・、。，：；（）［］【】「」]+/u;
/** Scripts without spaces: a number ends where they begin. */
const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+)/u;
const NUMBER = /^\p{Nd}{1,15}(?:k|m|b|st|nd|rd|th|er|e|h|min|s|z|am|pm|t\d{2}|h\d{2})?$/u;
/** 2026-11-16, 16/11/26, 16.11.2026: no version number, no price. */
const NUMERIC_DATE =
  /(?<![\d.])(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}\/\d{1,2}\/(?:\d{4}|\d{2})|\d{1,2}[.-] ?\d{1,2}[.-] ?\d{4}|\d{2}\.\d{2}\.\d{2})(?![\d.])/;
const CLOCK = /(?<![\d.:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])/;
/** What servers write at the end of a page. */
const MADE_IN =
  /^(?:this )?(?:page|seite|site|website) (?:was )?(?:generated|rendered|created|loaded|built|served|processed|load time|erzeugt|geladen)\b[^\n]{0,20}\d/i;

/** Nothing but a moment, or a number of something that readers do. */
export function isFurnitureLine(line: string): boolean {
  if (line.length > MAX_LINE || !/\p{Nd}/u.test(line)) return false;
  if (MADE_IN.test(line)) return true;
  let numbers = 0;
  // A number alone may be a price, and a word alone a heading.
  let others = NUMERIC_DATE.test(line) || CLOCK.test(line) ? 1 : 0;
  for (const token of tokensOf(line)) {
    if (NUMBER.test(token)) numbers++;
    else if (COUNTED.has(token) || DATED.has(token)) others++;
    else if (!MULTIPLES.has(token)) {
      if (!(written ??= writtenWords()).has(token)) return false;
      others++;
    }
  }
  return numbers > 0 && others > 0;
}

function tokensOf(line: string): string[] {
  return line
    .toLowerCase()
    .split(BETWEEN)
    .flatMap((token) => (UNSPACED.test(token) ? token.split(UNSPACED) : token))
    .filter(Boolean);
}

/** Once per process, some ten milliseconds. */
function writtenWords(): ReadonlySet<string> {
  const found = new Set<string>();
  const keep = (parts: readonly { readonly value: string }[]) => {
    for (const { value } of parts) for (const token of tokensOf(value)) if (!/\p{Nd}/u.test(token)) found.add(token);
  };
  for (const locale of LOCALES) {
    for (const style of ['long', 'short'] as const) {
      const names = { month: style, weekday: style, year: 'numeric', day: 'numeric', hour: 'numeric' } as const;
      const date = new Intl.DateTimeFormat(locale, { ...names, timeZone: 'UTC' });
      const month = new Intl.DateTimeFormat(locale, { month: style, timeZone: 'UTC' });
      const span = new Intl.RelativeTimeFormat(locale, { style });
      // One day in each month, on all days of the week, before noon and after.
      for (let n = 0; n < 12; n++) {
        const at = Date.UTC(2026, n, 1 + n, n * 2);
        keep(date.formatToParts(at));
        keep(month.formatToParts(at));
      }
      for (const unit of UNITS) for (const past of [-1, -2, -3, -5, -21]) keep(span.formatToParts(past, unit));
    }
  }
  return found;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
