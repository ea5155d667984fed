// What site software adds within or after a text, in twelve languages: further reading, calls to take part, credits
// of pictures, dates of changes.
// Promise: only short texts are looked at, by how they begin; it is one hint among many, never a decision.

/** A word ends where no letter follows; `\b` knows Latin letters only. */
const END = '(?![\\p{L}\\p{N}])';
const start = (words: readonly string[]): RegExp =>
  new RegExp(`^[^\\p{L}\\p{N}©]{0,4}(?:${words.join('|')})${END}`, 'iu');

/** Leads to another page. */
const AWAY = start([
  // English
  '(?:read|see|watch|check out|view|learn|discover|find out|get) (?:also|more|next|our|the full|full|all)',
  "(?:also read|related|see also|read also|recommended|further reading|more (?:on|from|about|in|news|stories)|don[’']t miss|you (?:may|might) (?:also )?(?:like|be interested)|click here|continue reading|keep reading|up next|most (?:read|popular)|previous|next (?:article|post)|sources?:|trending)",
  // German
  "(?:lesen sie|lies|hören sie|sehen sie) (?:auch|mehr|dazu|hier|weiter)|mehr (?:zum thema|dazu|infos?|informationen|zu)|weiterlesen|zum weiterlesen|das könnte .{0,20}interessieren|auch interessant|weitere (?:artikel|beiträge|informationen|infos|meldungen|themen|links?|nachrichten|news|bilder|videos)|zum thema|siehe auch|verwandte|passend dazu|(?:lese|buch)tipp|lesenswert|weiterführende|ähnliche|meistgelesen|die meistgelesenen|vorheriger|nächster|zurück zu|hier (?:geht|gehts|geht's) (?:es )?(?:zu|weiter)|vorschau auf",
  // French
  '(?:à )?(?:lire|voir|écouter) (?:aussi|également|notre|la suite|plus)|sur le même (?:sujet|thème)|pour aller plus loin|articles? (?:liés|similaires|connexes|précédent|suivant)|en savoir plus|vous aimerez|dans la même|nos autres',
  // Spanish
  '(?:lea|lee|leer|vea|ver|mira|mire|conozca|conoce|descubre) (?:también|además|más|aquí)|(?:te|le) puede interesar|también te|también puede|no te pierdas|sigue leyendo|relacionad[oa]s?|noticias relacionadas|más (?:noticias|información|sobre)|además:?$',
  // Portuguese
  '(?:leia|veja|saiba|confira|assista) (?:também|mais|ainda|a seguir|aqui)|relacionad[oa]s|continua (?:após|depois)|mais (?:notícias|sobre|lidas)',
  // Italian
  "(?:leggi|vedi|guarda|scopri) (?:anche|di più|tutto|l'articolo|qui)|potrebbe(?:ro)? interessarti|articoli correlati|per approfondire|approfondisci",
  // Dutch
  '(?:lees|bekijk|zie) (?:ook|meer|verder|hier)|gerelateerd|meer (?:over|lezen|nieuws)|misschien vind je',
  // Polish
  '(?:czytaj|zobacz|przeczytaj|sprawdź) (?:też|także|również|więcej|teraz)|polecamy|więcej na (?:temat|ten)|powiązane|zobacz galerię',
  // Russian
  'читайте (?:также|ещё|еще|далее|по теме)|смотрите также|по теме|см\\. также|материалы по теме|рекомендуем|ранее (?:сообщалось|мы писали)|подробнее|другие новости',
]);
const AWAY_WITHOUT_SPACES =
  /^[^\p{L}\p{N}]{0,4}(?:相关(?:阅读|新闻|文章|链接|推荐|报道)|延伸阅读|推荐阅读|更多(?:阅读|新闻|内容|精彩)|相關(?:新聞|文章|閱讀|連結)|延伸閱讀|推薦閱讀|点击(?:进入|查看|阅读)|點擊|上一篇|下一篇|責任編輯|责任编辑|編輯|关联|関連(?:記事|ニュース|リンク|キーワード)|あわせて読みたい|合わせて読みたい|おすすめ|こちらも|続きを読む|もっと見る|前の記事|次の記事|اقرأ (?:أيضا|أيضًا|ايضا|المزيد)|إقرأ أيضا|مواضيع ذات صلة|شاهد أيضا|ذات صلة|المزيد من|مقالات)/u;

/** Asks the reader to do something: subscribe, log in, comment, share, support. */
const TAKE_PART = start([
  '(?:subscribe|sign up|sign in|log ?in|register|join (?:us|our|the)|follow (?:us|me|@)|share (?:this|on|via|with)|like us|leave a (?:comment|reply)|post a comment|comments?(?: are)? (?:closed|off|\\()|comments?$|\\d+ comments?|support (?:us|our)|donate|become a|download (?:our|the) app|get (?:our|the) (?:app|newsletter)|enter your|your email|thank you for|this (?:article|post|story) (?:was|first|originally|contains|appeared|is)|have you|do you have|what do you think|tell us|let us know|contact (?:us|the)|advertisement|sponsored|promoted|all rights reserved|copyright|report (?:this|a)|already a)',
  '(?:abonnieren|abonniere|newsletter|anmelden|melden sie sich|melde dich|jetzt (?:teilen|abonnieren|registrieren|anmelden|kaufen|lesen|testen|spenden|bestellen|mitmachen)|teilen|diesen (?:artikel|beitrag)|einloggen|sie (?:müssen|sind|haben|möchten|wollen)|bitte (?:melden|loggen|einloggen|beachten)|kommentare?(?: geschlossen| schreiben|$| \\()|(?:schreibe|schreiben sie|hinterlasse) (?:einen|eine|uns)|\\d+ kommentare?|folgen sie|folge uns|folgt uns|unterstütze|spenden|werbung|anzeige|gefällt mir|möchten sie|hat (?:dir|ihnen)|impressum|kontakt|alle rechte|noch keine|diskutieren|trackback|pingback|ihre meinung|deine meinung|empfiehl|drucken|registrieren)',
  "(?:abonnez|s['’]abonner|inscrivez|partagez|partager|suivez|connectez|commentaires?(?:$| \\()|laisser un commentaire|réagir|publicité|pour accéder|déjà abonné|faites un don|soutenez|newsletter|recevez|cet article|vous (?:avez|devez|souhaitez)|tous droits)",
  '(?:suscríbete|suscríbase|suscribir|regístrate|inicia sesión|comparte|compartir|síguenos|sigue|comentarios?(?:$| \\()|deja un comentario|publicidad|apóyanos|boletín|recibe|este artículo|todos los derechos|únete|comenta)',
  '(?:assine|inscreva|cadastre|compartilhe|compartilhar|siga|comentários?(?:$| \\()|deixe um comentário|publicidade|receba|apoie|todos os direitos|faça (?:seu|o) login)',
  '(?:iscriviti|abbonati|registrati|accedi|condividi|seguici|commenti?(?:$| \\()|lascia un commento|pubblicità|sostieni|ricevi|tutti i diritti|riproduzione riservata)',
  '(?:abonneer|meld je aan|schrijf je in|inloggen|deel (?:dit|deze)|delen|volg ons|reacties?(?:$| \\()|plaats een reactie|advertentie|steun ons|ontvang|alle rechten)',
  '(?:zapisz się|subskrybuj|zaloguj|zarejestruj|udostępnij|obserwuj|komentarze?(?:$| \\()|dodaj komentarz|reklama|wesprzyj|wszelkie prawa|masz temat)',
  '(?:подпишитесь|подписывайтесь|подписаться|зарегистрируйтесь|войдите|войти|поделиться|поделитесь|комментари(?:и|ев)|оставить комментарий|реклама|поддержите|все права|следите)',
]);
const TAKE_PART_WITHOUT_SPACES =
  /^[^\p{L}\p{N}]{0,4}(?:分享(?:到|至)|关注我们|關注|订阅|訂閱|登录|登錄|登入|注册|註冊|评论|評論|發表評論|发表评论|留言|扫码|掃描|广告|廣告|版权|版權|声明|声明：|シェア|フォロー|登録|ログイン|コメント|会員|広告|メルマガ|お問い合わせ|اشترك|تابعنا|شارك|تسجيل|التعليقات|تعليق|إعلان|جميع الحقوق)/u;

/** Who made a picture or where a text is from. */
const CREDIT = new RegExp(
  `^[^\\p{L}\\p{N}©]{0,3}(?:©|\\(c\\)|(?:${[
    'photos?|photograph|picture|image|images|credit|courtesy|source|illustration|graphic|video|getty|via|caption|file photo',
    'fotos?|bild|bilder|beitragsbild|titelbild|symbolbild|archivbild|quellen?|grafik|abbildung|abb\\.|bildquelle|bildnachweis|copyright',
    'crédits?|crédits? photo|légende|crédito|créditos|imagen|imágenes|fuente|foto de|imagem|fonte|reprodução|divulgação|immagine|crediti',
    'bron|beeld|afbeelding|zdjęcie|fot|źródło|grafika|фото|источник|иллюстрация|скриншот',
  ].join('|')})\\.? ?(?:[:/(|©–—-]|by |von |de |via |credit|courtesy))`,
  'iu',
);
const CREDIT_WITHOUT_SPACES =
  /^[^\p{L}\p{N}]{0,3}(?:图片|图源|图为|图：|圖片|圖：|圖為|资料图|来源[:：]|來源[:：]|写真[:：＝=]|画像[:：]|出典|提供[:：＝=]|صورة|المصدر|تصوير)/u;
/** Within the line: "(Foto: Ada Marsh)", "/Getty Images". */
const CREDIT_INSIDE =
  /[([/|–—©-]\s?(?:foto|fotos|photo|bild|quelle|image|credit|crédits?|crédito|fonte|fuente|source|getty|reuters|afp|dpa|ap photo|shutterstock|istock|pixabay|unsplash|imago|picture[ -]alliance|фото|图)/iu;

/** When something was changed. */
const DATED = start([
  '(?:published|updated|last (?:updated|modified)|posted|written|by |von |par |por |di |door |aktualisiert|veröffentlicht|erschienen|stand|zuletzt|eingestellt|mis à jour|publié|actualizado|publicado|atualizado|aggiornato|pubblicato|bijgewerkt|gepubliceerd|zaktualizowano|opublikowano|data publikacji|обновлено|опубликовано|автор)',
]);
const DATED_WITHOUT_SPACES = /^[^\p{L}\p{N}]{0,3}(?:发布|發布|发表|更新|公開|投稿|作者|記者|记者|نشر|تحديث|كتب|بقلم)/u;

/** Asks for something anywhere in a line: to click, follow, subscribe, buy. */
const CALL =
  /(?<![\p{L}\p{N}])(?:click(?:ing)? here|tap here|sign(?:ing)? up (?:for|to|here|now|today)|subscrib(?:e|ing) (?:to|now|here|today)|newsletters?|(?:follow|like|join|find) (?:us|me|\S{2,30}) on (?:facebook|twitter|x|instagram|youtube|linkedin|tiktok|telegram|whatsapp|pinterest|mastodon|bluesky|google)|(?:delivered|straight|sent) (?:to|into|through) your (?:inbox|door|letterbox|email)|download (?:our|the) (?:free )?app|(?:listen|watch|tune in) (?:live|back|again)|(?:make|with) a (?:donation|contribution)|support (?:our|us|independent)|donate|all rights reserved|republish(?:ed)?|first (?:appeared|published)|originally (?:appeared|published)|klick(?:en sie)? hier|hier klicken|abonnier(?:en|e|t)|(?:folgen sie|folge|folgt) (?:uns|mir)|kostenlos(?:e|er|en)? testen|cliquez ici|abonnez-vous|inscrivez-vous|suivez-nous|suivez-moi|retrouvez-nous|haz clic|haga clic|suscríb(?:ete|ase)|síguenos|síganos|clique aqui|inscreva-se|assine|siga-nos|clicca qui|iscriviti|abbonati|seguici|seguiteci|klik hier|abonneer|volg ons|kliknij|zapisz się|śledź nas|подпи(?:шитесь|сывайтесь)|нажмите|следите за)(?![\p{L}\p{N}])|点击|關注|关注我们|订阅|訂閱|扫码|フォロー|登録|クリック|اشترك|تابعنا|اضغط/iu;
const MAX_CALL_CHARS = 800;

/** Whether a text asks the reader to do something on this site or another. */
export function hasCall(text: string): boolean {
  return text.length <= MAX_CALL_CHARS && CALL.test(text);
}

/** Whether a text ends with dots, as teasers of other pages do. */
export function isCutOff(text: string): boolean {
  const end = text.slice(-12).trimEnd();
  return end.endsWith('…') || end.endsWith('...') || end.endsWith('[…]') || end.endsWith('[...]');
}

export const NOTICE_NAMES: readonly string[] = ['away', 'take part', 'credit', 'dated'];
/** Longer texts say more than that. */
export const MAX_NOTICE_WORDS = 60;
const MAX_CHARS = 400;

/** Bits of {@link NOTICE_NAMES}: what a short text is. */
export function noticesIn(text: string): number {
  if (text.length > MAX_CHARS) return 0;
  const has = (...patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(text));
  return (
    (has(AWAY, AWAY_WITHOUT_SPACES) ? 1 : 0) |
    (has(TAKE_PART, TAKE_PART_WITHOUT_SPACES) ? 2 : 0) |
    (has(CREDIT, CREDIT_WITHOUT_SPACES, CREDIT_INSIDE) ? 4 : 0) |
    (has(DATED, DATED_WITHOUT_SPACES) ? 8 : 0)
  );
}
